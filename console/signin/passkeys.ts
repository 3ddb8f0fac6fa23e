import { type HostedSignin, LatchkeyError, passkeySupport } from '@latchkey/browser/internal';
import { element, type Page } from './page.ts';

type Signin = HostedSignin['signin'];
type SignedIn = ReturnType<Signin['signInWithPasskey']>;

/** Milliseconds after "Not now" without another offer. */
const pause = 30 * 24 * 3600 * 1000;

/** Passkeys on the sign-in page: the suggestions of the address field, and whether to offer a new one. */
export class Passkeys {
  readonly #page: Page;
  readonly #signin: Signin;
  #support = { available: false, autofill: false, platform: false };
  #suggestions: AbortController | undefined;

  constructor(page: Page, signin: Signin) {
    this.#page = page;
    this.#signin = signin;
  }

  /** Shows the button and allows suggestions, if the project and the browser use passkeys. */
  async load(): Promise<void> {
    const policy = this.#page.data['passkeys'] ?? 'off';
    if (policy === 'off') return;
    this.#support = await passkeySupport();
    element('use-passkey').hidden = !this.#support.available;
    if (this.#support.available && policy !== 'allowed') this.#lead();
    if (this.#support.autofill) element('userid').setAttribute('autocomplete', 'username webauthn');
  }

  /** Shows the passkey first; one click leads to the address. */
  #lead(): void {
    const [passkey, address] = [element('use-passkey'), element('address-submit')];
    passkey.classList.replace('second', 'main');
    address.classList.replace('main', 'second');
    element('address-field').before(passkey);
  }

  /** Suggests passkeys in the address field. `onChosen` gets the result of the one that the user chooses. */
  suggest(onChosen: (signedIn: SignedIn) => void): void {
    if (!this.#support.autofill || this.#suggestions) return;
    const own = new AbortController();
    const release = () => {
      if (this.#suggestions === own) this.#suggestions = undefined;
    };
    this.#suggestions = own;
    const signedIn = this.#signin.signInWithPasskey({ mediation: 'conditional', signal: own.signal }, () => {
      release();
      onChosen(signedIn);
    });
    // Aborted or unavailable: the address field works without suggestions.
    signedIn.catch(release);
  }

  stopSuggesting(): void {
    this.#suggestions?.abort();
    this.#suggestions = undefined;
  }

  /**
   * Whether to offer a passkey: not if the browser creates one without a dialog. Always, also for a security key or to say that
   * the browser cannot, if the user asked for one on the account page.
   */
  async mayOffer(userid: string, signal: AbortSignal): Promise<boolean> {
    if (this.#page.data['addsPasskey'] === 'true') return true;
    if (!this.#support.platform || (await this.#isDismissed(userid))) return false;
    return !(await this.#createQuietly(userid, signal));
  }

  /** Remembers "Not now" in this browser. */
  async dismiss(userid: string): Promise<void> {
    const key = await this.#dismissal(userid);
    try {
      localStorage.setItem(key, String(Date.now() + pause));
    } catch {
      // Without storage, the offer is shown again.
    }
  }

  async #isDismissed(userid: string): Promise<boolean> {
    const key = await this.#dismissal(userid);
    try {
      return Number(localStorage.getItem(key)) > Date.now();
    } catch {
      return false;
    }
  }

  /** Per project and user, as a hash: the storage is readable to anyone with the device. */
  async #dismissal(userid: string): Promise<string> {
    const owner = new TextEncoder().encode(`${this.#page.data['projectId']} ${userid.toLowerCase()}`);
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', owner));
    return `latchkey-no-passkey-${btoa(String.fromCharCode(...hash.slice(0, 12)))}`;
  }

  /** Conditional creation (WebAuthn Level 3 section 5.1.3): some password managers agree to it in advance. */
  async #createQuietly(userid: string, signal: AbortSignal): Promise<boolean> {
    try {
      const { conditionalCreate } = await PublicKeyCredential.getClientCapabilities();
      if (!conditionalCreate) return false;
      await this.#signin.createPasskey({ userid, signal }, 'conditional');
      return true;
    } catch (error) {
      // TypeError: the browser lacks getClientCapabilities.
      if (!(error instanceof LatchkeyError || error instanceof TypeError)) throw error;
      return false;
    }
  }
}
