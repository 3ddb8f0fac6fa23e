import type { SignIn, SignInState } from '../flow/state.ts';
import { createLatchkey } from '../latchkey.ts';
import { type Branding, brandingOf } from './branding.ts';
import { styles } from './styles.ts';
import { languageOf, problemOf, type Translate, translatorOf } from './texts.ts';
import { type View, viewOf } from './views.ts';

/** The detail of the event `latchkey-success`. */
export type LatchkeySuccess = {
  /** Authorization code for the back end: single use, valid for 60 seconds. */
  code: string;
  /** PKCE verifier for exchanging `code`, if the client requires PKCE. */
  codeVerifier: string | undefined;
  userid: string;
};

/** On a server, where the module can be imported, too. */
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

/**
 * `<latchkey-sign-in api-key="lk_pk_…" base-url="https://id.example.com">`: all prompts of a sign-in.
 *
 * Events: `latchkey-success` with {@link LatchkeySuccess}, then `latchkey-done`, immediately or when the user has saved
 * the recovery codes: leave the page only then.
 */
export class LatchkeySignIn extends Base {
  static readonly observedAttributes = ['api-key', 'base-url', 'lang', 'app-name', 'branding'];
  #signIn: SignIn | undefined;
  #view: View | undefined;
  #branding: Branding | undefined;
  #ending = new AbortController();

  connectedCallback(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [styles()];
    void this.#begin();
  }

  disconnectedCallback(): void {
    this.#end();
  }

  attributeChangedCallback(_: string, before: string | null, after: string | null): void {
    if (!this.isConnected || before === after || !this.shadowRoot) return;
    this.#end();
    void this.#begin();
  }

  #end(): void {
    this.#ending.abort();
    this.#signIn?.stop();
    this.#signIn = this.#view = undefined;
  }

  async #begin(): Promise<void> {
    const ending = new AbortController();
    this.#ending = ending;
    const { signal } = ending;
    const latchkey = createLatchkey();
    try {
      const apiKey = this.getAttribute('api-key') ?? '';
      const baseUrl = this.getAttribute('base-url') ?? undefined;
      // Rejects a key that cannot be part of a URL.
      await latchkey.init({ apiKey, baseUrl, options: { signal } });
      const isOwn = this.getAttribute('branding') === 'none';
      const branding = isOwn ? undefined : await brandingOf((baseUrl ?? '').replace(/\/+$/, ''), apiKey);
      if (signal.aborted) return;
      this.#branding = branding;
      if (this.shadowRoot) this.shadowRoot.adoptedStyleSheets = [styles(), ...(branding ? [branding.sheet] : [])];
      const signIn = latchkey.start({ suggestPasskeys: true });
      this.#signIn = signIn;
      signIn.onStateChange((state) => this.#show(state));
      this.#show(signIn.state);
    } catch (error) {
      if (signal.aborted) return;
      const failed = { step: 'failed', userid: '', busy: false, error } as SignInState;
      this.#show(failed);
    }
  }

  get #t(): Translate {
    const app = this.getAttribute('app-name') ?? location.host;
    return translatorOf(languageOf(this), { app, project: app });
  }

  #show(state: SignInState): void {
    const root = this.shadowRoot;
    if (!root) return;
    const t = this.#t;
    const problem = state.error ? problemOf(state.error, state, t) : '';
    if (this.#view?.shows(state)) return this.#view.update(state, problem);
    const isFirst = this.#view === undefined;
    this.#view = viewOf(state, t, {
      send: (action) => (this.#signIn ? this.#signIn.send(action) : void this.#begin()),
      done: () => this.dispatchEvent(new CustomEvent('latchkey-done', { bubbles: true, composed: true })),
    });
    root.replaceChildren(...this.#view.nodes);
    if (this.#branding?.logo) root.firstElementChild?.prepend(this.#branding.logo);
    this.#view.update(state, problem);
    // The page decides where its first focus is.
    if (!isFirst) this.#view.focus();
    if (state.step === 'success') this.#succeeded(state);
  }

  #succeeded({ code, codeVerifier, userid, recoveryCodes }: Extract<SignInState, { step: 'success' }>): void {
    const detail: LatchkeySuccess = { code, codeVerifier, userid };
    this.dispatchEvent(new CustomEvent('latchkey-success', { bubbles: true, composed: true, detail }));
    if (!recoveryCodes) this.dispatchEvent(new CustomEvent('latchkey-done', { bubbles: true, composed: true }));
  }
}
