import type { SoftAuthenticator } from './authenticator.ts';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from './browser.ts';
import { redirectUri } from './factories.ts';
import { type Credential, newDeviceKey, SigninPage, type StepAnswer } from './signin-browser.ts';
import { claimsOf, expectStatus, type SigninWorld } from './signin-world.ts';

const { verifier, challenge } = pkce();

/** A browser of the hosted page. */
export class HostedBrowser {
  constructor(
    private readonly world: SigninWorld,
    readonly authenticator: SoftAuthenticator,
    /** The address of a custom domain; absent: the base host. */
    private readonly domain?: string,
  ) {}

  private get url(): string {
    return this.domain ?? this.world.app.url;
  }

  readonly browser = new CookieBrowser();
  /** The handle of the flow. */
  flow = '';
  page!: SigninPage;
  private credential!: Credential;

  /** Begins a request of the world's client, and shows its sign-in page. */
  async open(over: Record<string, string | undefined> = {}): Promise<URL> {
    const query = new URLSearchParams(authorizationParameters(this.world.client.id, challenge, over));
    const to = locationOf(await this.browser.get(`${this.url}/authorize?${query}`));
    await this.show(to);
    return to;
  }

  /** Shows the sign-in page of a flow. */
  async show(to: URL): Promise<void> {
    const flow = to.searchParams.get('flow') ?? '';
    this.flow = flow;
    const now = () => Math.floor(this.world.app.clock.now().getTime() / 1000);
    this.credential = { origin: this.url, flow, cookie: this.cookie };
    this.page = new SigninPage(this.url, this.credential, this.page?.key ?? (await newDeviceKey()), now);
  }

  /** First sign-in by mail code, up to SUCCESS. */
  async register(userid: string): Promise<StepAnswer> {
    return this.keep(await this.world.register(this.page, userid));
  }

  /** Adds a passkey in the sign-in that has just ended. */
  async addPasskey(over: Record<string, unknown> = {}): Promise<StepAnswer> {
    const { options } = expectStatus(
      await this.page.step('passkey-options', { purpose: 'registration' }),
      'PASSKEY_OPTIONS',
    );
    const credential = this.authenticator.create(options, { origin: this.url, ...over });
    return this.page.step('register-passkey', { credential });
  }

  /** Signs in with the passkey. */
  async usePasskey(over: Record<string, unknown> = {}): Promise<StepAnswer> {
    if (!this.page.txn) await this.page.challenge({});
    const { options } = expectStatus(await this.page.step('passkey-options', {}), 'PASSKEY_OPTIONS');
    const credential = this.authenticator.get(options, { origin: this.url, ...over });
    return this.page.step('verify-passkey', { credential });
  }

  /** Follows the end of a sign-in back to the application, and exchanges the code. */
  async claims(done: StepAnswer): Promise<Record<string, unknown>> {
    return this.claimsAt(await this.follow(done));
  }

  private get cookie(): string {
    return [...this.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Stores the cookies of the response: the page sends them with its next step. */
  keep(answer: StepAnswer): StepAnswer {
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      this.browser.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    this.credential.cookie = this.cookie;
    return answer;
  }

  /** Keeps the cookies of the response, and follows it to the application. */
  async follow(done: StepAnswer): Promise<URL> {
    this.keep(done);
    return locationOf(await this.browser.get(done['redirect_to']));
  }

  /** Claims of the ID token for the code that the application received. */
  async claimsAt(back: URL): Promise<Record<string, unknown>> {
    const code = back.searchParams.get('code') ?? '';
    const form = { code_verifier: verifier, redirect_uri: redirectUri };
    return claimsOf((await this.world.exchange(code, { headers: {}, form }, this.url)).body['id_token']);
  }
}
