import {
  asPhoneNumber,
  type HostedSignin,
  LatchkeyError,
  type MfaMethod,
  type ResumedSignin,
} from '@latchkey/browser/internal';
import type { CodePrompt, CodePromptOptions } from '../code-prompt.ts';
import { cleanCode, formatOf, isComplete } from '../codes/one-time-code.ts';
import { element, type Page, showAddress } from '../page.ts';
import { Passkeys } from '../passkeys.ts';
import { Actions } from './actions.ts';
import { Ending, type SignedIn } from './ending.ts';

type Signin = HostedSignin['signin'];
type Authenticated = Awaited<ReturnType<Signin['authenticate']>>;
type DeviceVerified = Awaited<ReturnType<Signin['verifyDevice']>>;

/** The sign-in flow: maps each response of the service to the next step. */
export class Flow {
  readonly #page: Page;
  readonly #signin: Signin;
  readonly #code: CodePrompt;
  readonly #passkeys: Passkeys;
  readonly #address = element<HTMLInputElement>('userid');
  readonly #shared = element<HTMLInputElement>('shared');
  readonly #hosted: HostedSignin;
  readonly #number = element<HTMLInputElement>('number');
  readonly #codeForm = element<HTMLFormElement>('code');
  #userid = '';
  #remembers = true;
  #sessionId = '';
  #ending: Ending | undefined;
  /** Whether a new factor is being enrolled in this sign-in. */
  #isEnrolling = false;
  readonly #actions: Actions;

  constructor(page: Page, hosted: HostedSignin, code: CodePrompt) {
    this.#page = page;
    this.#hosted = hosted;
    this.#signin = hosted.signin;
    this.#code = code;
    this.#passkeys = new Passkeys(page, hosted.signin);
    this.#actions = new Actions(page, {
      onStart: () => this.#passkeys.stopSuggesting(),
      onError: (error) => this.#fail(error),
      onIdle: () => this.#suggest(),
    });
    // Without storage, every device is a shared one.
    if (!hosted.isStored) this.#shared.checked = this.#shared.disabled = true;
  }

  /** Takes over from the server-rendered page. */
  start(trustedUser: string | undefined, resumed: ResumedSignin | undefined): void {
    const hint = this.#address.value.trim();
    // Keep text already typed; a login_hint takes precedence over the trusted user.
    if (trustedUser && (!hint || hint.toLowerCase() === trustedUser)) this.#offerAccount(trustedUser);

    this.#actions.onSubmit('address', () => this.#submitAddress());
    this.#actions.onSubmit('code', () => this.#submitCode());
    this.#actions.onSubmit('choose', (button) => this.#submitMethod(button));
    this.#actions.onSubmit('phone', () => this.#submitPhone());
    this.#startPasskeys();
    this.#address.addEventListener('input', () => this.#page.clearProblem());
    this.#number.addEventListener('input', () => this.#page.clearProblem());
    element('resend').addEventListener('click', () => {
      if (this.#code.mayResend) this.#actions.run(() => this.#resend());
    });
    element('other-method').addEventListener('click', () => this.#page.show('choose'));
    element('other-way').addEventListener('click', () => this.#page.show('choose'));
    element('not-you').addEventListener('click', () => this.#askAddress(''));
    for (const button of document.querySelectorAll('[data-restart]'))
      button.addEventListener('click', () => {
        // "Not you?": the next address begins another sign-in, which has none of this one's evidence.
        if (button.id === 'restart') this.#userid = '';
        if (history.state?.begun) history.back();
        else this.#askAddress(this.#userid);
      });

    // The setup page has asked for the address already, or Enter came before this script. Not again after a reload.
    const isAsked = this.#page.data['asked'] && history.state === null && hint !== '';
    // Back leads from any later step to the address step, and from there to the application; forward leads to the later step.
    if (!resumed || !history.state?.begun) history.replaceState({}, '');
    addEventListener('popstate', ({ state }) => {
      if (['recovery-codes', 'offer', 'done', 'ended'].includes(this.#page.step)) return;
      if (state?.begun) this.#actions.run(() => this.#resume());
      // The setup page asks for the address.
      else if (this.#page.data['asked'] === 'setup') history.back();
      else this.#askAddress(this.#userid);
    });
    if (resumed) this.#actions.run(async () => this.#continue(resumed));
    else if (isAsked) this.#actions.run(() => this.#submitAddress());
  }

  /** The sign-in may have ended meanwhile: then the address step stays. */
  async #resume(): Promise<void> {
    const resumed = await this.#hosted.resume();
    if (resumed) await this.#continue(resumed);
  }

  /** Shows the prompt that the sign-in had reached before the page was reloaded or left. */
  #continue({ userid, rememberDevice, prompt }: ResumedSignin): Promise<void> | void {
    this.#userid = this.#address.value = showAddress('who-name', userid);
    this.#remembers = rememberDevice;
    this.#shared.checked = !rememberDevice || !this.#hosted.isStored;
    this.#isEnrolling = 'methods' in prompt;
    if ('methods' in prompt) this.#offerMethods(prompt.methods ?? []);
    switch (prompt.status) {
      case 'OTP_NEEDED':
        return this.#ask({ kind: 'address', ...prompt });
      case 'OTP_VERIFIED':
        return this.#verifyDevice();
      case 'DEVICE_REGISTERED':
        return this.#begin();
      case 'MFA_REQUIRED':
        return prompt.method === 'passkey' ? this.#askPasskey() : this.#askFactor(prompt.sessionId, prompt.method);
      case 'MFA_INITIATED':
        this.#sessionId = prompt.sessionId;
        return this.#ask({ ...prompt, kind: prompt.method, isNew: this.#isEnrolling });
      case 'PASSKEY_ENROLLMENT_NEEDED':
        return this.#askNewPasskey();
      case 'PASSKEY_OFFERED':
        return this.#offerPasskey(prompt.redirectTo);
    }
  }

  /** The user asked for a passkey on the account page, and is signed in. */
  async #offerPasskey(redirectTo: string): Promise<void> {
    // A reload resumes it; there is no step to go back to.
    history.replaceState({ begun: true }, '');
    await this.#passkeys.load();
    await this.#finish({ status: 'SUCCESS', message: '', success: true, passkeyOffer: true, redirectTo });
  }

  #offerMethods(methods: readonly MfaMethod[]): void {
    for (const button of document.querySelectorAll<HTMLButtonElement>('.choices button'))
      button.hidden = !methods.includes(button.value as MfaMethod);
  }

  #startPasskeys(): void {
    this.#actions.onSubmit('passkey', () => this.#usePasskey({ userid: this.#userid }), { hasDialog: true });
    this.#actions.onSubmit('offer', async () => this.#ending?.createPasskey(this.#actions.signal), { hasDialog: true });
    this.#actions.onSubmit('new-passkey', () => this.#createNeededPasskey(), { hasDialog: true });
    element('passkey-recovery').addEventListener('click', () => this.#code.askRecovery('passkey'));
    element('own-passkey').addEventListener('click', () =>
      this.#actions.run(() => this.#usePasskey({ userid: this.#userid }), { hasDialog: true }),
    );
    const button = element('use-passkey');
    const choose = async () => {
      button.dataset['chosen'] = '';
      await this.#usePasskey({}).finally(() => delete button.dataset['chosen']);
    };
    button.addEventListener('click', () => this.#actions.run(choose, { hasDialog: true }));
    element('no-passkey').addEventListener('click', () =>
      this.#actions.run(async () => this.#ending?.withoutPasskey()),
    );
    void this.#passkeys.load().then(() => this.#suggest());
  }

  /** Suggests passkeys while the address field is shown. */
  #suggest(): void {
    if (this.#page.step !== 'address' || element('address-field').hidden) return;
    this.#passkeys.suggest((signedIn) => this.#actions.run(async () => this.#finish(await signedIn)));
  }

  #offerAccount(trustedUser: string): void {
    this.#address.value = trustedUser;
    showAddress('account-name', trustedUser);
    element('account').querySelector('.face')!.textContent = trustedUser.charAt(0);
    this.#showAccount(true);
    element('address-submit').focus();
  }

  /** Hides the "shared device" choice if the browser is already trusted. */
  #showAccount(known: boolean): void {
    element('account').hidden = !known;
    element('address-field').hidden = element('sharing').hidden = known;
  }

  #askAddress(userid: string): void {
    this.#actions.abort();
    this.#address.value = userid;
    this.#showAccount(false);
    this.#page.show('address', this.#address);
    this.#address.select();
    this.#suggest();
  }

  async #submitAddress(): Promise<void> {
    const userid = this.#address.value.trim();
    if (!userid) return this.#page.problem(this.#page.text('problem.email'), this.#address);
    const remembers = !this.#shared.checked;
    // Going back and forth within 30 seconds: the code just sent is still valid.
    if (userid === this.#userid && remembers === this.#remembers && this.#code.isFresh) return this.#ask();
    this.#userid = showAddress('who-name', userid);
    this.#remembers = remembers;
    await this.#begin();
  }

  async #begin(): Promise<void> {
    this.#isEnrolling = false;
    await this.#proceed(await this.#authenticate());
  }

  #authenticate(): Promise<Authenticated> {
    return this.#signin.authenticate(this.#userid, { rememberDevice: this.#remembers, ...this.#actions.signal });
  }

  async #proceed(answer: Authenticated, note?: string): Promise<void> {
    switch (answer.status) {
      case 'SUCCESS':
        return this.#finish(answer);
      case 'INVALID_EMAIL':
        if (this.#page.step !== 'address' || element('address-field').hidden) this.#askAddress(this.#userid);
        return this.#page.problem(this.#page.text('problem.email'), this.#address);
      case 'OTP_NEEDED': {
        const { sentTo, resendAfter, codeFormat, code: testCode } = answer;
        return this.#ask({ kind: 'address', sentTo, resendAfter, codeFormat, testCode }, note);
      }
      case 'MFA_REQUIRED':
        if (answer.method === 'passkey') return this.#askPasskey();
        return this.#askFactor(answer.sessionId, answer.method);
      case 'PASSKEY_ENROLLMENT_NEEDED':
        return this.#askNewPasskey();
    }
  }

  #askPasskey(): void {
    this.#markBegun();
    this.#page.show('passkey');
  }

  #askNewPasskey(): void {
    this.#markBegun();
    this.#page.show('new-passkey');
  }

  /** Signs in with any passkey, or with one of `userid` as the second factor. */
  async #usePasskey(of: { userid?: string }): Promise<void> {
    await this.#finish(await this.#signin.signInWithPasskey({ ...of, ...this.#actions.signal }));
  }

  async #askFactor(sessionId: string, method: MfaMethod): Promise<void> {
    this.#sessionId = sessionId;
    try {
      await this.#startMfa();
    } catch (error) {
      // No code can be sent now (rate limit, too many attempts, no gateway): offer recovery codes.
      if (isFactorUnavailable(error) && !this.#isEnrolling) this.#code.askRecovery(method);
      throw error;
    }
  }

  async #startMfa(note?: string): Promise<void> {
    const asking = { userid: this.#userid, sessionId: this.#sessionId, ...this.#actions.signal };
    const { method, code: testCode, ...sent } = await this.#signin.initiateMfa(asking);
    this.#ask({ ...sent, kind: method, testCode, isNew: this.#isEnrolling }, note);
  }

  /** Lets the browser's back button return to the address step. */
  #markBegun(): void {
    if (!history.state?.begun) history.pushState({ begun: true }, '');
  }

  #ask(asked?: CodePromptOptions, note?: string): void {
    this.#markBegun();
    if (asked) this.#code.ask(asked, note);
    else this.#code.askAgain();
  }

  async #resend(): Promise<void> {
    const note = this.#page.text('code.resent');
    if (this.#code.asked.kind === 'address') await this.#proceed(await this.#authenticate(), note);
    else await this.#startMfa(note);
  }

  async #submitCode(): Promise<void> {
    const { field, asked } = this.#code;
    const format = formatOf(field);
    const otp = cleanCode(field.value, format);
    if (format === 'recovery' ? !otp : !isComplete(field)) {
      const missing = { digits: 'problem.digits', long: 'problem.long', recovery: 'problem.empty' }[format];
      return this.#page.problem(this.#page.text(missing), field);
    }
    const [userid, signal] = [this.#userid, this.#actions.signal];
    if (asked.kind === 'address') {
      await this.#signin.verifyEmailOtp({ userid, otp, ...signal });
      return this.#verifyDevice();
    }
    // One choice covers both: a remembered browser may skip the second factor as long as the project allows.
    const answer = await this.#signin.verifyMfa({ userid, otp, remember_me: this.#remembers, ...signal });
    return answer.status === 'SUCCESS' ? this.#finish(answer) : this.#askNewPasskey();
  }

  async #verifyDevice(): Promise<void> {
    await this.#registered(await this.#signin.verifyDevice({ userid: this.#userid, ...this.#actions.signal }));
  }

  async #registered(answer: DeviceVerified): Promise<void> {
    switch (answer.status) {
      case 'SUCCESS':
        return this.#finish(answer);
      case 'PASSKEY_ENROLLMENT_NEEDED':
        return this.#askNewPasskey();
      case 'DEVICE_REGISTERED':
        return this.#proceed(await this.#authenticate());
      case 'MFA_ENROLLMENT_NEEDED':
        this.#offerMethods(answer.methods);
        return this.#page.show('choose');
      case 'FINALIZE_REGISTRATION_NEEDED':
        return this.#page.show('phone', this.#number);
    }
  }

  async #submitMethod(button: HTMLElement | null): Promise<void> {
    const mfaMethod = (button as HTMLButtonElement).value as MfaMethod;
    button!.dataset['chosen'] = '';
    this.#isEnrolling = true;
    try {
      await this.#registered(
        await this.#signin.verifyDevice({ userid: this.#userid, mfaMethod, ...this.#actions.signal }),
      );
    } finally {
      delete button!.dataset['chosen'];
    }
  }

  async #submitPhone(): Promise<void> {
    const phoneNumber = asPhoneNumber(this.#number.value);
    if (phoneNumber instanceof LatchkeyError) return this.#fail(phoneNumber);
    const chosen = { userid: this.#userid, mfaMethod: 'sms', phoneNumber } as const;
    await this.#registered(await this.#signin.verifyDevice({ ...chosen, ...this.#actions.signal }));
  }

  async #finish(signedIn: SignedIn): Promise<void> {
    this.#ending = new Ending(this.#page, this.#signin, this.#passkeys, { userid: this.#userid, ...signedIn });
    await this.#ending.show(this.#actions.signal, () =>
      this.#actions.run(() => this.#ending!.afterCodes(this.#actions.signal)),
    );
  }

  /** Creates the passkey that this sign-in needs to end. */
  async #createNeededPasskey(): Promise<void> {
    const page = this.#page;
    try {
      const created = await this.#signin.createPasskey({ userid: this.#userid, ...this.#actions.signal });
      if (created.status === 'SUCCESS') return this.#finish(created);
    } catch (error) {
      const { code } = error as Partial<LatchkeyError>;
      if (code === 'PASSKEY_EXISTS') return this.#usePasskey({ userid: this.#userid });
      if (code === 'PASSKEY_CANCELLED') return page.showNotice(page.text('problem.newPasskey'));
      if (code === 'PASSKEY_REJECTED') return page.problem(page.text('problem.newPasskeyRejected'));
      throw error;
    }
  }

  /** Handles an error: wrong input, restart, or end of the flow. */
  #fail(error: unknown): void {
    if (!(error instanceof LatchkeyError)) throw error;
    const page = this.#page;
    const { field } = this.#code;
    // An identity provider signs in this address.
    if (error.url) return location.assign(error.url);
    switch (error.code) {
      case 'ABORTED':
        return;
      case 'CODE_REJECTED': {
        const key = this.#code.rejection;
        // A new code was typed in the meantime: submit it next.
        if (page.isTypedOver(field) && isComplete(field)) return void setTimeout(() => this.#codeForm.requestSubmit());
        return page.problem(page.text(`problem.${key}`), field);
      }
      case 'PHONE_INVALID':
      case 'PHONE_NOT_ALLOWED':
        return page.problem(page.sentence(error), this.#number);
      case 'FLOW_EXPIRED':
        return page.show('ended');
      case 'PASSKEY_CANCELLED':
        return page.showNotice(
          page.text(page.step === 'address' ? 'problem.passkeyCancelled' : 'problem.passkeyNotUsed'),
        );
      case 'TRANSACTION_EXPIRED':
        // Another tab may have continued this sign-in.
        return void this.#hosted
          .resume()
          .catch(() => null)
          .then((resumed) => (resumed ? this.#actions.run(async () => this.#continue(resumed)) : this.#restart(error)));
      case 'APPROVAL_REQUIRED':
        this.#restart(error);
        return page.showNotice(page.sentence(error));
      case 'OUT_OF_ORDER':
      case 'DEVICE_KEY_LOST':
      case 'DEVICE_REVOKED':
      case 'NONCE_REJECTED':
      case 'PROOF_REQUIRED':
      case 'PROOF_REJECTED':
        return this.#restart(error);
      case 'MFA_METHOD_NOT_ALLOWED':
        if (page.step === 'code') return page.problem(page.text('problem.methodOff'));
        break;
      case 'RATE_LIMITED':
        if (page.step === 'code' && error.retryAfter) this.#code.countDown(Math.min(error.retryAfter, 3600));
        return page.wait(error.retryAfter ?? 60, error.reason && `problem.${error.reason}Limit`);
    }
    // The request ID, to find the server error in its log.
    page.problem(page.sentence(error), null, error.code === 'SERVER_ERROR' ? error.requestId : undefined);
  }

  /** Asks for the address again. */
  #restart(error: LatchkeyError): void {
    this.#code.countDown(0);
    if (this.#page.step !== 'address') this.#askAddress(this.#userid);
    this.#page.problem(this.#page.sentence(error, 'problem.restart'));
  }
}

/** Whether the factor is unavailable for now, as opposed to wrong input. */
function isFactorUnavailable(error: unknown): boolean {
  const codes = ['RATE_LIMITED', 'MFA_METHOD_NOT_ALLOWED', 'TEMPORARILY_UNAVAILABLE'];
  return error instanceof LatchkeyError && codes.includes(error.code);
}
