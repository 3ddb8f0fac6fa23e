import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Latchkey, LatchkeyError, PasskeySupport } from '@latchkey/browser';
import type { Page } from '@playwright/test';

const modules = fileURLToPath(new URL('.', import.meta.resolve('@latchkey/browser')));

const html = `<!doctype html><title>Application</title>
  <script type="module">
    import * as sdk from '/sdk/index.js';
    window.sdk = sdk;
    document.title = 'Ready';
  </script>`;

/** An application's page with the built SDK, as plain modules. */
export const sdkPage: RequestListener = (req, res) => {
  const { pathname } = new URL(req.url ?? '/', 'http://any');
  if (pathname === '/') {
    res.writeHead(200, { 'Content-Type': 'text/html' }).end(html);
    return;
  }
  const path = /^\/sdk\/([a-z0-9-]+(?:\/[a-z0-9-]+)?\.js)$/.exec(pathname)?.[1];
  if (path === undefined) {
    res.writeHead(404).end();
    return;
  }
  res.writeHead(200, { 'Content-Type': 'text/javascript' }).end(readFileSync(join(modules, path)));
};

type Operations = Omit<Latchkey, 'init' | 'initialize'>;
type Outcome = { result: unknown } | { refused: Pick<LatchkeyError, 'code' | 'category' | 'message' | 'retryAfter'> };

/** The SDK in a page: tests call its operations as a page's script would. */
export class SdkInPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Opens the application at `origin`, without `init`. */
  static async open(page: Page, origin: string): Promise<SdkInPage> {
    await page.goto(`${origin}/`);
    await page.waitForFunction(() => document.title === 'Ready');
    return new SdkInPage(page);
  }

  init(apiKey: string, baseUrl: string, options?: { timeoutMs?: number }): Promise<unknown> {
    return this.#call('init', [{ apiKey, baseUrl, ...(options && { options }) }]);
  }

  readonly authenticate: Operations['authenticate'] = (...input) => this.#call('authenticate', input);
  readonly verifyEmailOtp: Operations['verifyEmailOtp'] = (...input) => this.#call('verifyEmailOtp', input);
  readonly verifyDevice: Operations['verifyDevice'] = (...input) => this.#call('verifyDevice', input);
  readonly initiateMfa: Operations['initiateMfa'] = (...input) => this.#call('initiateMfa', input);
  readonly verifyMfa: Operations['verifyMfa'] = (...input) => this.#call('verifyMfa', input);

  readonly changePhoneNumber: Operations['changePhoneNumber'] = (...input) => this.#call('changePhoneNumber', input);
  readonly verifyPhoneNumber: Operations['verifyPhoneNumber'] = (...input) => this.#call('verifyPhoneNumber', input);

  readonly signInWithPasskey: Operations['signInWithPasskey'] = (...input) => this.#call('signInWithPasskey', input);

  readonly createPasskey: Operations['createPasskey'] = (...input) => this.#call('createPasskey', input);

  readonly forgetDevice: Operations['forgetDevice'] = (...input) => this.#call('forgetDevice', input);

  passkeySupport(): Promise<PasskeySupport> {
    return this.#call('passkeySupport', []);
  }

  createPkce(): Promise<{ codeVerifier: string; codeChallenge: string; codeChallengeMethod: string }> {
    return this.#call('createPkce', []);
  }

  async clearSiteData(): Promise<void> {
    await this.page.evaluate(
      () =>
        new Promise<void>((resolve, reject) => {
          const request = indexedDB.deleteDatabase('latchkey');
          request.onsuccess = () => resolve();
          request.onerror = () => reject(request.error ?? new Error('not deleted'));
        }),
    );
  }

  /** Rejects with an Error that has the members of the SDK's error. */
  async #call<Result>(operation: string, input: unknown[]): Promise<Result> {
    const outcome = await this.page.evaluate(
      async ([name, args]): Promise<Outcome> => {
        const sdk = (window as unknown as { sdk: Record<string, (...given: unknown[]) => Promise<unknown>> }).sdk;
        try {
          return { result: await sdk[name]?.(...args) };
        } catch (error) {
          const { code, category, message, retryAfter } = error as LatchkeyError;
          return { refused: { code, category, message, retryAfter } };
        }
      },
      [operation, input] as const,
    );
    if ('refused' in outcome) throw Object.assign(new Error(outcome.refused.message), outcome.refused);
    return outcome.result as Result;
  }
}
