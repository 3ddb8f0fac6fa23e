import { type Claims, exchangeCodeForClaims } from '@latchkey/node';
import { type AdminApi, codeIn, oneTimeCode } from './admin-api.ts';
import type { Latchkey } from './latchkey.ts';

export interface ProjectSettings {
  mfaPolicy?: 'OFF' | 'OPTIONAL' | 'REQUIRED';
  passkeyPolicy?: 'OFF' | 'ALLOWED' | 'PREFERRED' | 'REQUIRED';
  testMode?: boolean;
  emailFactor?: boolean;
  deviceTrustSeconds?: number;
  rememberMfaSeconds?: number;
  accountDeletionDays?: number;
}

export interface ClientSettings {
  name?: string;
  pkceRequired?: boolean;
  /** Its own pages may use passkeys. */
  relatedOrigins?: boolean;
}

/** An application in its own project: keys and back end. */
export class Application {
  readonly projectId: string;
  readonly clientId: string;
  readonly publishableKey: string;
  readonly #secretKey: string;
  readonly #admin: AdminApi;
  readonly #latchkey: Latchkey;

  private constructor(
    admin: AdminApi,
    latchkey: Latchkey,
    made: { projectId: string; clientId: string; publishableKey: string; secretKey: string },
  ) {
    this.#admin = admin;
    this.#latchkey = latchkey;
    this.#secretKey = made.secretKey;
    this.projectId = made.projectId;
    this.clientId = made.clientId;
    this.publishableKey = made.publishableKey;
  }

  /** @param name of the client; the project's is "<name> project" @param pkceRequired of the client */
  static async register(
    admin: AdminApi,
    latchkey: Latchkey,
    redirectUri: string,
    { name = 'Shop', pkceRequired = false, relatedOrigins = false, ...settings }: ProjectSettings & ClientSettings = {},
  ): Promise<Application> {
    const projectId = await admin.createProject(`${name} project`);
    const client = await admin.createClient({
      projectId,
      name,
      tokenEndpointAuthMethod: 'NONE',
      redirectUris: [redirectUri],
      pkceRequired,
      relatedOrigins,
    });
    const application = new Application(admin, latchkey, { ...client, projectId });
    await application.set(settings);
    return application;
  }

  async set(settings: ProjectSettings): Promise<void> {
    const query = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
    await this.#admin.run(query, { input: { id: this.projectId, ...settings } });
  }

  /** Exchanges a code in the back end: `@latchkey/node` with the secret key. */
  redeem(code: string, extra: { codeVerifier?: string; redirectUri?: string } = {}): Promise<Claims> {
    const issuer = this.#latchkey.baseUrl;
    return exchangeCodeForClaims({
      code,
      clientId: this.clientId,
      apiKey: this.#secretKey,
      oauthTokenUrl: `${issuer}/oauth2/token`,
      jwksUrl: `${issuer}/.well-known/jwks.json`,
      issuer,
      // The server's clock may be ahead of this process's.
      leeway: 5 + Math.round((this.#latchkey.now() - Date.now()) / 1000),
      ...extra,
    });
  }
}

/** Reads a user's mail or text messages, each code once. */
export class Inbox {
  readonly address: string;
  readonly #admin: AdminApi;
  #read = 0;

  constructor(admin: AdminApi, address: string) {
    this.#admin = admin;
    this.address = address;
  }

  /** Waits for the next message with a code. */
  async code(): Promise<string> {
    const deadline = Date.now() + 180_000;
    while (Date.now() < deadline) {
      const codes = (await this.#admin.mailbox(this.address)).filter((text) => oneTimeCode.test(text));
      if (codes.length > this.#read) {
        this.#read = codes.length;
        return codeIn(codes[0] as string);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`no code arrived for ${this.address}`);
  }
}
