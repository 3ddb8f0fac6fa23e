import { type Claims, exchangeCodeForClaims } from '@latchkey/node';
import { type AdminApi, codeIn } from './admin-api.ts';

export interface ProjectSettings {
  mfaPolicy?: 'OFF' | 'OPTIONAL' | 'REQUIRED';
  testMode?: boolean;
  deviceTrustSeconds?: number;
  rememberMfaSeconds?: number;
}

/** An application in a project of its own: its keys, and its back end. */
export class Application {
  readonly projectId: string;
  readonly clientId: string;
  readonly publishableKey: string;
  readonly #secretKey: string;
  readonly #admin: AdminApi;
  readonly #issuer: string;

  private constructor(
    admin: AdminApi,
    issuer: string,
    made: { projectId: string; clientId: string; publishableKey: string; secretKey: string },
  ) {
    this.#admin = admin;
    this.#issuer = issuer;
    this.#secretKey = made.secretKey;
    this.projectId = made.projectId;
    this.clientId = made.clientId;
    this.publishableKey = made.publishableKey;
  }

  /** @param name the client's, and with "project" the project's */
  static async register(
    admin: AdminApi,
    issuer: string,
    redirectUri: string,
    { name = 'Shop', ...settings }: ProjectSettings & { name?: string } = {},
  ): Promise<Application> {
    const projectId = await admin.createProject(`${name} project`);
    const client = await admin.createClient({
      projectId,
      name,
      tokenEndpointAuthMethod: 'NONE',
      redirectUris: [redirectUri],
    });
    const application = new Application(admin, issuer, { ...client, projectId });
    await application.set(settings);
    return application;
  }

  async set(settings: ProjectSettings): Promise<void> {
    const query = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
    await this.#admin.run(query, { input: { id: this.projectId, ...settings } });
  }

  /** What its back end learns from a code: `@latchkey/node` with the secret key. */
  redeem(code: string, extra: { codeVerifier?: string; redirectUri?: string } = {}): Promise<Claims> {
    return exchangeCodeForClaims({
      code,
      clientId: this.clientId,
      apiKey: this.#secretKey,
      oauthTokenUrl: `${this.#issuer}/oauth2/token`,
      jwksUrl: `${this.#issuer}/.well-known/jwks.json`,
      issuer: this.#issuer,
      leeway: 5,
      ...extra,
    });
  }
}

/** Reads one person's mail or text messages, each code once. */
export class Inbox {
  readonly address: string;
  readonly #admin: AdminApi;
  #read = 0;

  constructor(admin: AdminApi, address: string) {
    this.#admin = admin;
    this.address = address;
  }

  /** The code of the next message that holds one; waits for it. */
  async code(): Promise<string> {
    const deadline = Date.now() + 30_000;
    while (Date.now() < deadline) {
      const codes = (await this.#admin.mailbox(this.address)).filter((text) => /\b\d{6}\b/.test(text));
      if (codes.length > this.#read) {
        this.#read = codes.length;
        return codeIn(codes[0] as string);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`no code has come to ${this.address}`);
  }
}
