import type { SignIn, SignInState } from '../flow/state.ts';
import { createLatchkey } from '../latchkey.ts';
import { type Branding, brandingOf } from './branding.ts';
import { styles } from './styles.ts';
import { problemOf, type Texts, type Translate, textsFor, translatorOf } from './texts.ts';
import { type View, viewOf } from './views.ts';

/** The detail of the event `latchkey-success`. */
export type LatchkeySuccess = {
  /** Authorization code for the back end: single use, valid for 60 seconds. */
  code: string;
  /** PKCE verifier for exchanging `code`, if the client requires PKCE. */
  codeVerifier: string | undefined;
  userid: string;
  /**
   * Call it with the exchange in your back end while the event is dispatched. The form stays busy until then; if the
   * promise rejects, it shows an error and offers another sign-in, and `latchkey-done` does not follow.
   */
  waitUntil: (exchange: Promise<unknown>) => void;
};

/** On a server, where the module can be imported, too. */
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

/**
 * `<latchkey-sign-in api-key="lk_pk_…" base-url="https://id.example.com">`: all prompts of a sign-in.
 *
 * Events: `latchkey-success` with {@link LatchkeySuccess}, then `latchkey-done`, after the exchange and when the user has
 * saved the recovery codes: leave the page only then.
 */
export class LatchkeySignIn extends Base {
  static readonly observedAttributes = ['api-key', 'base-url', 'lang', 'app-name', 'branding'];
  #signIn: SignIn | undefined;
  #view: View | undefined;
  #branding: Branding | undefined;
  #texts: Texts | undefined;
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
    const baseUrl = this.getAttribute('base-url') ?? undefined;
    const base = (baseUrl ?? '').replace(/\/+$/, '');
    const texts = textsFor(this, base);
    try {
      const apiKey = this.getAttribute('api-key') ?? '';
      // Rejects a key that cannot be part of a URL.
      await latchkey.init({ apiKey, baseUrl, options: { signal } });
      const isOwn = this.getAttribute('branding') === 'none';
      const branding = isOwn ? undefined : await brandingOf(base, apiKey);
      this.#texts = await texts;
      if (signal.aborted) return;
      this.#branding = branding;
      if (this.shadowRoot) this.shadowRoot.adoptedStyleSheets = [styles(), ...(branding ? [branding.sheet] : [])];
      const signIn = latchkey.start({ suggestPasskeys: true });
      this.#signIn = signIn;
      signIn.onStateChange((state) => this.#show(state));
      this.#show(signIn.state);
    } catch (error) {
      this.#texts = await texts;
      this.#fail(error, signal);
    }
  }

  /** Shows an error, with a button that begins again. */
  #fail(error: unknown, { aborted }: AbortSignal): void {
    if (aborted) return;
    this.#signIn = undefined;
    this.#render({ step: 'failed', userid: '', busy: false, error } as SignInState);
  }

  get #t(): Translate {
    const app = this.getAttribute('app-name') ?? location.host;
    return translatorOf(this.#texts as Texts, { app, project: app });
  }

  #dispatch(name: string, detail?: LatchkeySuccess): void {
    this.dispatchEvent(new CustomEvent(`latchkey-${name}`, { bubbles: true, composed: true, detail }));
  }

  #show(state: SignInState): void {
    if (state.step !== 'success') return this.#render(state);
    const { code, codeVerifier, userid, recoveryCodes } = state;
    const { signal } = this.#ending;
    let exchange: Promise<boolean> | undefined;
    const waitUntil: LatchkeySuccess['waitUntil'] = (promise) => {
      exchange = promise.then(
        () => true,
        () => false,
      );
    };
    this.#dispatch('success', { code, codeVerifier, userid, waitUntil });
    const end = (isExchanged: boolean) => {
      if (!isExchanged) return this.#fail({ code: 'SERVER_ERROR' }, signal);
      this.#render({ ...state, recoveryCodes: undefined });
      this.#dispatch('done');
    };
    const finish = () => (exchange ? void exchange.then(end) : end(true));
    if (recoveryCodes) this.#render(state, finish);
    else finish();
  }

  #render(state: SignInState, done = () => {}): void {
    const root = this.shadowRoot;
    if (!root) return;
    const t = this.#t;
    const problem = state.error ? problemOf(state.error, state, t) : '';
    if (this.#view?.shows(state)) return this.#view.update(state, problem);
    const isFirst = this.#view === undefined;
    this.#view = viewOf(state, t, {
      send: (action) => (this.#signIn ? this.#signIn.send(action) : void this.#begin()),
      done,
    });
    root.replaceChildren(...this.#view.nodes);
    if (this.#branding?.logo) root.firstElementChild?.prepend(this.#branding.logo);
    this.#view.update(state, problem);
    // The page decides where its first focus is.
    if (!isFirst) this.#view.focus();
  }
}
