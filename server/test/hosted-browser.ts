import type { SoftAuthenticator } from './authenticator.ts';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from './browser.ts';
import { redirectUri } from './factories.ts';
import { newDeviceKey, SigninPage, type StepAnswer } from './signin-browser.ts';
import { claimsOf, expectStatus, type SigninWorld } from './signin-world.ts';

const { verifier, challenge } = pkce();

/** A browser of the hosted page. */
export class HostedBrowser {
  constructor(
    private readonly world: SigninWorld,
    private readonly authenticator: SoftAuthenticator,
  ) {}

  readonly browser = new CookieBrowser();
  page!: SigninPage;

  /** Begins a request of the world's client, and shows its sign-in page. */
  async open(over: Record<string, string | undefined> = {}): Promise<URL> {
    const query = new URLSearchParams(authorizationParameters(this.world.client.id, challenge, over));
    const to = locationOf(await this.browser.get(`${this.world.app.url}/authorize?${query}`));
    const flow = to.searchParams.get('flow') ?? '';
    const cookie = [...this.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const now = () => Math.floor(this.world.app.clock.now().getTime() / 1000);
    const credential = { origin: this.world.app.url, flow, cookie };
    this.page = new SigninPage(this.world.app.url, credential, this.page?.key ?? (await newDeviceKey()), now);
    return to;
  }

  /** First sign-in by mail code, up to SUCCESS. */
  register(userid: string): Promise<StepAnswer> {
    return this.world.register(this.page, userid);
  }

  /** Adds a passkey in the sign-in that has just ended. */
  async addPasskey(over: Record<string, unknown> = {}): Promise<StepAnswer> {
    const { options } = expectStatus(
      await this.page.step('passkey-options', { purpose: 'registration' }),
      'PASSKEY_OPTIONS',
    );
    const credential = this.authenticator.create(options, { origin: this.world.app.url, ...over });
    return this.page.step('register-passkey', { credential });
  }

  /** Signs in with the passkey. */
  async usePasskey(over: Record<string, unknown> = {}): Promise<StepAnswer> {
    if (!this.page.txn) await this.page.challenge({});
    const { options } = expectStatus(await this.page.step('passkey-options', {}), 'PASSKEY_OPTIONS');
    const credential = this.authenticator.get(options, { origin: this.world.app.url, ...over });
    return this.page.step('verify-passkey', { credential });
  }

  /** Follows the end of a sign-in back to the application, and exchanges the code. */
  async claims(done: StepAnswer): Promise<Record<string, unknown>> {
    return this.claimsAt(await this.follow(done));
  }

  /** Keeps the cookies of the answer, and follows it to the application. */
  async follow(done: StepAnswer): Promise<URL> {
    for (const line of done.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      this.browser.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    return locationOf(await this.browser.get(done['redirect_to']));
  }

  /** Claims of the ID token for the code that the application received. */
  async claimsAt(back: URL): Promise<Record<string, unknown>> {
    const code = back.searchParams.get('code') ?? '';
    const form = { code_verifier: verifier, redirect_uri: redirectUri };
    return claimsOf((await this.world.exchange(code, { headers: {}, form })).body['id_token']);
  }
}
