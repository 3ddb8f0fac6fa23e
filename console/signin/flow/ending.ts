import { type HostedSignin, LatchkeyError } from '@latchkey/browser/internal';
import { element, type Page } from '../page.ts';
import type { Passkeys } from '../passkeys.ts';
import { showRecoveryCodes } from '../recovery-codes.ts';

type Signin = HostedSignin['signin'];
export type SignedIn = Extract<Awaited<ReturnType<Signin['verifyMfa']>>, { status: 'SUCCESS' }>;
type Signal = { signal: AbortSignal };

/** Errors after which no passkey can be created: the device has one, or the offer has expired. */
const offerEnds = ['PASSKEY_EXISTS', 'TRANSACTION_EXPIRED', 'OUT_OF_ORDER', 'FLOW_EXPIRED'];

/** Errors that a retry does not avoid: shown with their own text. */
const shownUnchanged = ['PASSKEY_MODEL_NOT_ALLOWED', 'PASSKEY_UNSUPPORTED', 'PASSKEYS_NOT_ALLOWED'];

/** The end of a sign-in: recovery codes and the offer of a passkey, if any, then back to the application. */
export class Ending {
  readonly #page: Page;
  readonly #signin: Signin;
  readonly #passkeys: Passkeys;
  readonly #signedIn: SignedIn & { userid: string };

  constructor(page: Page, signin: Signin, passkeys: Passkeys, signedIn: SignedIn & { userid: string }) {
    this.#page = page;
    this.#signin = signin;
    this.#passkeys = passkeys;
    this.#signedIn = signedIn;
  }

  /** @param onSaved called when the user has saved the recovery codes; {@link afterCodes} follows */
  async show(signal: Signal, onSaved: () => void): Promise<void> {
    const { recoveryCodes } = this.#signedIn;
    if (recoveryCodes) showRecoveryCodes(this.#page, recoveryCodes, onSaved);
    else await this.afterCodes(signal);
  }

  async afterCodes({ signal }: Signal): Promise<void> {
    const { passkeyOffer, userid } = this.#signedIn;
    if (passkeyOffer && (await this.#passkeys.mayOffer(userid, signal))) this.#page.show('offer');
    else this.#leave();
  }

  /** "Not now". */
  async withoutPasskey(): Promise<void> {
    await this.#passkeys.dismiss(this.#signedIn.userid);
    this.#leave();
  }

  async createPasskey(signal: Signal): Promise<void> {
    try {
      await this.#signin.createPasskey({ userid: this.#signedIn.userid, ...signal });
    } catch (error) {
      if (!(error instanceof LatchkeyError) || error.code === 'ABORTED') throw error;
      const page = this.#page;
      const notCreated = page.text('problem.passkeyNotCreated');
      if (error.code === 'PASSKEY_CANCELLED') return page.showNotice(notCreated);
      if (error.category === 'retryable' || shownUnchanged.includes(error.code))
        return page.problem(page.sentence(error));
      if (!offerEnds.includes(error.code)) return page.problem(notCreated);
    }
    this.#leave();
  }

  #leave(): void {
    const { redirectTo } = this.#signedIn;
    element<HTMLAnchorElement>('done-link').href = redirectTo;
    this.#page.show('done');
    location.replace(redirectTo);
  }
}
