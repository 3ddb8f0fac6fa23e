import { type HostedSignin, LatchkeyError, type MfaMethod } from '@latchkey/browser/internal';
import type { CodePrompt, CodePromptOptions } from './code-prompt.ts';
import { cleanCode, formatOf, isComplete } from './codes/one-time-code.ts';
import { element, type Page } from './page.ts';
import { Passkeys } from './passkeys.ts';
import { showRecoveryCodes } from './recovery-codes.ts';

type Signin = HostedSignin['signin'];
type Authenticated = Awaited<ReturnType<Signin['authenticate']>>;
type SignedIn = Extract<Awaited<ReturnType<Signin['verifyMfa']>>, { status: 'SUCCESS' }>;
type MfaVerified = Awaited<ReturnType<Signin['verifyMfa']>>;
type DeviceVerified = Awaited<ReturnType<Signin['verifyDevice']>>;

/** The sign-in flow: maps each response of the service to the next step. */
export class Flow {
  readonly #page: Page;
  readonly #signin: Signin;
  readonly #code: CodePrompt;
  readonly #passkeys: Passkeys;
  readonly #address = element<HTMLInputElement>('userid');
  readonly #shared = element<HTMLInputElement>('shared');
  readonly #number = element<HTMLInputElement>('number');
  readonly #codeForm = element<HTMLFormElement>('code');
  #userid = '';
  #remembers = true;
  #sessionId = '';
  #redirectTo = '';
  /** Whether a new factor is being enrolled in this sign-in. */
  #isEnrolling = false;
  /** Aborts the request in flight when the user goes back. */
  #abort = new AbortController();

  constructor(page: Page, signin: Signin, code: CodePrompt) {
    this.#page = page;
    this.#signin = signin;
    this.#code = code;
    this.#passkeys = new Passkeys(page, signin);
  }

  /** Takes over from the server-rendered page. */
  start(trustedUser: string | undefined): void {
    const hint = this.#address.value.trim();
    // Keep text already typed; a login_hint wins over the trusted user.
    if (trustedUser && (!hint || hint.toLowerCase() === trustedUser)) this.#offerAccount(trustedUser);

    this.#onSubmit('address', () => this.#submitAddress());
    this.#onSubmit('code', () => this.#submitCode());
    this.#onSubmit('choose', (button) => this.#submitMethod(button));
    this.#onSubmit('phone', () => this.#submitPhone());
    this.#startPasskeys();
    this.#address.addEventListener('input', () => this.#page.clearProblem());
    this.#number.addEventListener('input', () => this.#page.clearProblem());
    element('resend').addEventListener('click', () => {
      if (this.#code.mayResend) this.#run(() => this.#resend());
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

    // The setup page has asked for the address already. Not again after a reload.
    const isAsked = this.#page.data['asked'] === 'true' && history.state === null && hint !== '';
    // Back leads from any later step to the address step, and from there to the application.
    history.replaceState({}, '');
    addEventListener('popstate', () => {
      if (['recovery-codes', 'offer', 'done', 'ended'].includes(this.#page.step)) return;
      this.#askAddress(this.#userid);
    });
    if (isAsked) this.#run(() => this.#submitAddress());
  }

  #startPasskeys(): void {
    this.#onSubmit('passkey', () => this.#usePasskey({ userid: this.#userid }), { hasDialog: true });
    this.#onSubmit('offer', () => this.#createPasskey(), { hasDialog: true });
    this.#onSubmit('new-passkey', () => this.#createNeededPasskey(), { hasDialog: true });
    element('passkey-recovery').addEventListener('click', () => this.#code.askRecovery('passkey'));
    element('own-passkey').addEventListener('click', () =>
      this.#run(() => this.#usePasskey({ userid: this.#userid }), { hasDialog: true }),
    );
    const button = element('use-passkey');
    const choose = async () => {
      button.dataset['chosen'] = '';
      await this.#usePasskey({}).finally(() => delete button.dataset['chosen']);
    };
    button.addEventListener('click', () => this.#run(choose, { hasDialog: true }));
    element('no-passkey').addEventListener('click', () =>
      this.#run(async () => {
        await this.#passkeys.dismiss(this.#userid);
        this.#leave(this.#redirectTo);
      }),
    );
    void this.#passkeys.load().then(() => this.#suggest());
  }

  /** Suggests passkeys while the address field is shown. */
  #suggest(): void {
    if (this.#page.step !== 'address' || element('address-field').hidden) return;
    this.#passkeys.suggest((signedIn) => this.#run(async () => this.#finish(await signedIn)));
  }

  #offerAccount(trustedUser: string): void {
    this.#address.value = trustedUser;
    element('account-name').textContent = trustedUser;
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
    this.#abort.abort();
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
    this.#userid = element('who-name').textContent = userid;
    this.#remembers = remembers;
    await this.#begin();
  }

  async #begin(): Promise<void> {
    this.#isEnrolling = false;
    await this.#proceed(await this.#authenticate());
  }

  #authenticate(): Promise<Authenticated> {
    return this.#signin.authenticate(this.#userid, { rememberDevice: this.#remembers, ...this.#signal });
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
    await this.#finish(await this.#signin.signInWithPasskey({ ...of, ...this.#signal }));
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
    const asking = { userid: this.#userid, sessionId: this.#sessionId, ...this.#signal };
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
    const [userid, signal] = [this.#userid, this.#signal];
    if (asked.kind === 'address') {
      await this.#signin.verifyEmailOtp({ userid, otp, ...signal });
      return this.#registered(await this.#signin.verifyDevice({ userid, ...signal }));
    }
    // One choice covers both: a remembered browser may skip the second factor as long as the project allows.
    const answer = await this.#signin.verifyMfa({ userid, otp, remember_me: this.#remembers, ...signal });
    return this.#verified(answer);
  }

  #verified(answer: MfaVerified): Promise<void> | void {
    return answer.status === 'SUCCESS' ? this.#finish(answer) : this.#askNewPasskey();
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
        for (const button of document.querySelectorAll<HTMLButtonElement>('.choices button'))
          button.hidden = !answer.methods.includes(button.value as MfaMethod);
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
      await this.#registered(await this.#signin.verifyDevice({ userid: this.#userid, mfaMethod, ...this.#signal }));
    } finally {
      delete button!.dataset['chosen'];
    }
  }

  async #submitPhone(): Promise<void> {
    const phoneNumber = this.#number.value
      .normalize('NFKC')
      .replace(/[\s().\-/]/g, '')
      .replace(/^00/, '+');
    if (!/^\+\d{6,15}$/.test(phoneNumber)) return this.#page.problem(this.#page.text('problem.phone'), this.#number);
    const chosen = { userid: this.#userid, mfaMethod: 'sms', phoneNumber } as const;
    await this.#registered(await this.#signin.verifyDevice({ ...chosen, ...this.#signal }));
  }

  async #finish({ redirectTo, recoveryCodes, passkeyOffer }: SignedIn): Promise<void> {
    this.#redirectTo = redirectTo;
    const next = async () => (passkeyOffer ? this.#offerPasskey() : this.#leave(redirectTo));
    if (!recoveryCodes) return next();
    showRecoveryCodes(this.#page, recoveryCodes, () => this.#run(next));
  }

  async #offerPasskey(): Promise<void> {
    const { signal } = this.#signal;
    if (await this.#passkeys.mayOffer(this.#userid, signal)) this.#page.show('offer');
    else this.#leave(this.#redirectTo);
  }

  async #createPasskey(): Promise<void> {
    try {
      await this.#signin.createPasskey({ userid: this.#userid, ...this.#signal });
    } catch (error) {
      if (!(error instanceof LatchkeyError)) throw error;
      const page = this.#page;
      const notCreated = page.text('problem.passkeyNotCreated');
      if (error.code === 'PASSKEY_CANCELLED') return page.showNotice(notCreated);
      if (error.category === 'retryable' || error.code === 'PASSKEY_MODEL_NOT_ALLOWED')
        return page.problem(page.sentence(error));
      if (!offerEnds.includes(error.code)) return page.problem(notCreated);
    }
    this.#leave(this.#redirectTo);
  }

  /** Creates the passkey that this sign-in needs to end. */
  async #createNeededPasskey(): Promise<void> {
    const page = this.#page;
    try {
      const created = await this.#signin.createPasskey({ userid: this.#userid, ...this.#signal });
      if (created.status === 'SUCCESS') return this.#finish(created);
    } catch (error) {
      const code = error instanceof LatchkeyError ? error.code : undefined;
      if (code === 'PASSKEY_EXISTS') return this.#usePasskey({ userid: this.#userid });
      if (code === 'PASSKEY_CANCELLED') return page.showNotice(page.text('problem.newPasskey'));
      if (code === 'PASSKEY_REJECTED') return page.problem(page.text('problem.newPasskeyRejected'));
      throw error;
    }
  }

  #leave(redirectTo: string): void {
    element<HTMLAnchorElement>('done-link').href = redirectTo;
    this.#page.show('done');
    location.replace(redirectTo);
  }

  #onSubmit(
    step: string,
    work: (submitter: HTMLElement | null) => Promise<void>,
    waiting?: { hasDialog: boolean },
  ): void {
    element<HTMLFormElement>(step).addEventListener('submit', (event) => {
      event.preventDefault();
      this.#run(() => work(event.submitter), waiting);
    });
  }

  #run(work: () => Promise<void>, waiting?: { hasDialog: boolean }): void {
    this.#passkeys.stopSuggesting();
    this.#page.clearProblem();
    this.#abort = new AbortController();
    const done = () => work().catch((error: unknown) => this.#fail(error));
    void this.#page.busy(done, waiting).then(() => this.#suggest());
  }

  get #signal(): { signal: AbortSignal } {
    return { signal: this.#abort.signal };
  }

  /** Handles an error: wrong input, restart, or end of the flow. */
  #fail(error: unknown): void {
    if (!(error instanceof LatchkeyError)) throw error;
    const page = this.#page;
    const { field, asked } = this.#code;
    switch (error.code) {
      case 'ABORTED':
        return;
      case 'CODE_REJECTED': {
        const key = formatOf(field) === 'recovery' ? 'recovery' : asked.kind === 'totp' ? 'codeTotp' : 'code';
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
      case 'OUT_OF_ORDER':
      case 'DEVICE_KEY_LOST':
      case 'DEVICE_REVOKED':
      case 'NONCE_REJECTED':
      case 'PROOF_REQUIRED':
      case 'PROOF_REJECTED':
        this.#code.countDown(0);
        if (page.step !== 'address') this.#askAddress(this.#userid);
        return page.problem(page.sentence(error));
      case 'MFA_METHOD_NOT_ALLOWED':
        if (page.step === 'code') return page.problem(page.text('problem.methodOff'));
        break;
      case 'RATE_LIMITED':
        if (page.step === 'code' && error.retryAfter) this.#code.countDown(Math.min(error.retryAfter, 3600));
        return page.wait(error.retryAfter ?? 60);
    }
    // The request ID, to find the server error in its log.
    page.problem(page.sentence(error), null, error.code === 'SERVER_ERROR' ? error.requestId : undefined);
  }
}

/** Errors after which no passkey can be created: the device has one, or the offer has expired. */
const offerEnds = ['PASSKEY_EXISTS', 'TRANSACTION_EXPIRED', 'OUT_OF_ORDER', 'FLOW_EXPIRED'];

/** Whether the factor is unavailable for now, as opposed to wrong input. */
function isFactorUnavailable(error: unknown): boolean {
  const codes = ['RATE_LIMITED', 'MFA_METHOD_NOT_ALLOWED', 'TEMPORARILY_UNAVAILABLE'];
  return error instanceof LatchkeyError && codes.includes(error.code);
}
