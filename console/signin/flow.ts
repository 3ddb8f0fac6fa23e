import { type HostedSignin, LatchkeyError, type MfaMethod } from '@latchkey/browser/internal';
import type { CodePrompt, CodePromptOptions } from './code-prompt.ts';
import { cleanCode, formatOf, isComplete } from './one-time-code.ts';
import { element, type Page } from './page.ts';
import { showRecoveryCodes } from './recovery-codes.ts';

type Signin = HostedSignin['signin'];
type Authenticated = Awaited<ReturnType<Signin['authenticate']>>;
type DeviceVerified = Awaited<ReturnType<Signin['verifyDevice']>>;

/** The sign-in flow: maps each response of the service to the next step. */
export class Flow {
  readonly #page: Page;
  readonly #signin: Signin;
  readonly #code: CodePrompt;
  readonly #address = element<HTMLInputElement>('userid');
  readonly #shared = element<HTMLInputElement>('shared');
  readonly #number = element<HTMLInputElement>('number');
  readonly #codeForm = element<HTMLFormElement>('code');
  #userid = '';
  #remembers = true;
  #sessionId = '';
  /** Whether a new factor is being enrolled in this sign-in. */
  #isEnrolling = false;
  /** Aborts the request in flight when the user goes back. */
  #abort = new AbortController();

  constructor(page: Page, signin: Signin, code: CodePrompt) {
    this.#page = page;
    this.#signin = signin;
    this.#code = code;
  }

  /** Takes over from the server-rendered page. */
  start(trustedUser: string | undefined): void {
    const hint = this.#address.value.trim();
    // Keep text already typed; a login_hint wins over the trusted user.
    if (trustedUser && (!hint || hint.toLowerCase() === trustedUser)) this.#offer(trustedUser);

    this.#onSubmit('address', () => this.#submitAddress());
    this.#onSubmit('code', () => this.#submitCode());
    this.#onSubmit('choose', (button) => this.#submitMethod(button));
    this.#onSubmit('phone', () => this.#submitPhone());
    this.#address.addEventListener('input', () => this.#page.clearProblem());
    this.#number.addEventListener('input', () => this.#page.clearProblem());
    element('resend').addEventListener('click', () => {
      if (this.#code.mayResend) this.#run(() => this.#resend());
    });
    element('other-method').addEventListener('click', () => this.#page.show('choose'));
    element('other-way').addEventListener('click', () => this.#page.show('choose'));
    element('not-you').addEventListener('click', () => this.#askAddress(''));
    for (const button of document.querySelectorAll('[data-restart]'))
      button.addEventListener('click', () => (history.state?.begun ? history.back() : this.#askAddress(this.#userid)));

    // Back leads from any later step to the address step, and from there to the application.
    history.replaceState({}, '');
    addEventListener('popstate', () => {
      if (['recovery-codes', 'done', 'ended'].includes(this.#page.step)) return;
      this.#askAddress(this.#userid);
    });
  }

  #offer(trustedUser: string): void {
    this.#address.value = trustedUser;
    element('account-name').textContent = trustedUser;
    document.querySelector('.face')!.textContent = trustedUser.charAt(0);
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
  }

  async #submitAddress(): Promise<void> {
    const userid = this.#address.value.trim();
    if (!userid) return this.#page.problem(this.#page.text('problem.email'), this.#address);
    const remembers = !this.#shared.checked;
    // Going back and forth within 30 seconds: the code just sent is still valid.
    if (userid === this.#userid && remembers === this.#remembers && this.#code.isFresh) return this.#ask();
    this.#userid = userid;
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
        this.#sessionId = answer.sessionId;
        return this.#startMfa().catch((error: unknown) => {
          // No code can be sent now (rate limit, too many attempts, no gateway): offer recovery codes.
          if (isFactorUnavailable(error) && !this.#isEnrolling) this.#code.askRecovery(answer.method);
          throw error;
        });
    }
  }

  async #startMfa(note?: string): Promise<void> {
    const asking = { userid: this.#userid, sessionId: this.#sessionId, ...this.#signal };
    const { method, code: testCode, ...sent } = await this.#signin.initiateMfa(asking);
    this.#ask({ ...sent, kind: method, testCode, isNew: this.#isEnrolling }, note);
  }

  #ask(asked?: CodePromptOptions, note?: string): void {
    if (!history.state?.begun) history.pushState({ begun: true }, '');
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
    this.#finish(answer);
  }

  async #registered(answer: DeviceVerified): Promise<void> {
    switch (answer.status) {
      case 'SUCCESS':
        return this.#finish(answer);
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

  #finish({ redirectTo, recoveryCodes }: { redirectTo: string; recoveryCodes?: string[] }): void {
    if (recoveryCodes) return showRecoveryCodes(this.#page, recoveryCodes, () => this.#leave(redirectTo));
    this.#leave(redirectTo);
  }

  #leave(redirectTo: string): void {
    element<HTMLAnchorElement>('done-link').href = redirectTo;
    this.#page.show('done');
    location.replace(redirectTo);
  }

  #onSubmit(step: string, work: (submitter: HTMLElement | null) => Promise<void>): void {
    element<HTMLFormElement>(step).addEventListener('submit', (event) => {
      event.preventDefault();
      this.#run(() => work(event.submitter));
    });
  }

  #run(work: () => Promise<void>): void {
    this.#page.clearProblem();
    this.#abort = new AbortController();
    void this.#page.busy(() => work().catch((error: unknown) => this.#fail(error)));
  }

  get #signal(): { signal: AbortSignal } {
    return { signal: this.#abort.signal };
  }

  /** Handles an error: wrong answer, restart, or end of the flow. */
  #fail(error: unknown): void {
    if (!(error instanceof LatchkeyError)) throw error;
    const page = this.#page;
    const { field, asked } = this.#code;
    switch (error.code) {
      case 'ABORTED':
        return;
      case 'CODE_REJECTED': {
        const key = formatOf(field) === 'recovery' ? 'recovery' : asked.kind === 'totp' ? 'codeTotp' : 'code';
        // A new code was typed meanwhile: submit it next.
        if (page.isTypedOver(field) && isComplete(field)) return void setTimeout(() => this.#codeForm.requestSubmit());
        return page.problem(page.text(`problem.${key}`), field);
      }
      case 'PHONE_INVALID':
      case 'PHONE_NOT_ALLOWED':
        return page.problem(page.sentence(error), this.#number);
      case 'FLOW_EXPIRED':
        return page.show('ended');
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
    }
    // The request ID, to find the server error in its log.
    page.problem(page.sentence(error), null, error.code === 'SERVER_ERROR' ? error.requestId : undefined);
  }
}

/** Whether the factor is unavailable for now, as opposed to a wrong answer. */
function isFactorUnavailable(error: unknown): boolean {
  const codes = ['RATE_LIMITED', 'MFA_METHOD_NOT_ALLOWED', 'TEMPORARILY_UNAVAILABLE'];
  return error instanceof LatchkeyError && codes.includes(error.code);
}
