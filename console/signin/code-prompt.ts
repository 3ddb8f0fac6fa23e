import { type CodeFormat, formatOf, watchCode } from './codes/one-time-code.ts';
import { countDown } from './countdown.ts';
import { element, type Page } from './page.ts';

/** Parameters of the code prompt. */
export type CodePromptOptions = {
  /** `passkey`: a recovery code instead. */
  kind: 'address' | 'email' | 'sms' | 'totp' | 'passkey';
  /** Masked address. */
  sentTo?: string | undefined;
  /** Unix seconds; absent: now. */
  sentAt?: number | undefined;
  /** Seconds. */
  resendAfter?: number | undefined;
  /** Absent: six digits. */
  codeFormat?: 'long' | undefined;
  /** On enrollment of an authenticator app. */
  totp?: { secret: string; otpauthUri: string } | undefined;
  /** Test mode only. */
  testCode?: string | undefined;
  /** Enrollment: another factor can still be chosen. */
  isNew?: boolean | undefined;
};

/** Prompt for a one-time code of any kind: text, field, countdown, QR code. */
export class CodePrompt {
  readonly field = element<HTMLInputElement>('otp');
  readonly #page: Page;
  readonly #resend = element<HTMLButtonElement>('resend');
  #asked: CodePromptOptions = { kind: 'address' };
  #askedAt = new Date();
  #rejections = 0;
  #stop = () => {};
  readonly #forgetLast: () => void;

  constructor(page: Page) {
    this.#page = page;
    const form = element<HTMLFormElement>('code');
    this.#forgetLast = watchCode(this.field, () => form.requestSubmit());
    this.field.addEventListener('input', () => page.clearProblem());
    element('fill').addEventListener('click', () => {
      this.#setFormat();
      this.field.value = this.#asked.testCode ?? '';
      form.requestSubmit();
    });
    // When the user returns from the mailbox's tab, the field has the focus.
    document.querySelector('a[href="/setup/mailbox"]')?.addEventListener('click', () => this.field.focus());
    element('secret-copy').addEventListener('click', async ({ currentTarget }) => {
      await navigator.clipboard.writeText(this.#asked.totp?.secret ?? '');
      (currentTarget as HTMLElement).textContent = page.text('page.copied');
    });
    element('recovery').addEventListener('click', () => {
      this.#setFormat(formatOf(this.field) === 'recovery' ? undefined : 'recovery');
      this.#describe();
      page.show('code', this.field);
    });
  }

  get asked(): CodePromptOptions {
    return this.#asked;
  }

  /** Shows the prompt; `note` is a status message. */
  ask(asked: CodePromptOptions, note = ''): void {
    this.#asked = asked;
    this.#rejections = 0;
    this.#askedAt = asked.sentAt === undefined ? new Date() : new Date(asked.sentAt * 1000);
    const { kind, testCode, resendAfter, totp, isNew = false } = asked;
    this.#setFormat();
    this.#describe();
    element('code-note').textContent = note;
    element('test-code').hidden = !testCode;
    element('test-code').querySelector('strong')!.textContent = testCode ?? '';
    element('recovery').hidden = kind === 'address' || isNew;
    element('other-way').hidden = !isNew;
    element('other-address').hidden = isNew;
    this.countDown(resendAfter ?? 0);
    this.#enrol(totp);
    this.#page.show('code', this.field);
  }

  /** Prompts for a recovery code only: the factor is unavailable. */
  askRecovery(kind: CodePromptOptions['kind']): void {
    this.ask({ kind });
    this.#setFormat('recovery');
    this.#describe();
    element('recovery').hidden = true;
  }

  /** Name of the text for a wrong code. A code that was sent ends after five. */
  get rejection(): string {
    if (formatOf(this.field) === 'recovery') return 'recovery';
    if (this.#asked.kind === 'totp') return 'codeTotp';
    this.#rejections += 1;
    return this.#rejections < 5 ? 'code' : 'codeSpent';
  }

  /** Shows the last prompt again. */
  askAgain(): void {
    this.#setFormat();
    this.#describe();
    this.#page.show('code', this.field);
  }

  /** Whether a code was just sent. */
  get isFresh(): boolean {
    return this.#asked.kind === 'address' && this.#asked.sentTo !== undefined && !this.mayResend;
  }

  /** Whether another code may be requested now. */
  get mayResend(): boolean {
    return this.#resend.getAttribute('aria-disabled') !== 'true';
  }

  /** Disables the resend button with a countdown, in seconds. */
  countDown(seconds: number): void {
    this.#stop();
    this.#stop = countDown(seconds, (left) => {
      const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
      this.#resend.setAttribute('aria-disabled', String(left > 0));
      this.#resend.textContent = left > 0 ? this.#page.text('code.resendIn', { time }) : this.#page.text('code.resend');
    });
  }

  #describe(): void {
    const { kind, sentTo, totp, isNew = false } = this.#asked;
    const page = this.#page;
    const format = formatOf(this.field);
    const isRecovery = format === 'recovery';
    const isLong = format === 'long';
    const title = isRecovery
      ? 'code.recoveryTitle'
      : totp
        ? 'code.titleEnrol'
        : kind !== 'address' && !isNew
          ? 'code.titleSecond'
          : kind === 'sms'
            ? 'code.titleSms'
            : 'code.titleEmail';
    const time = this.#askedAt.toLocaleTimeString([], { timeStyle: 'short' });
    const text = isRecovery
      ? page.boldText('code.recoveryText')
      : kind !== 'totp'
        ? page.boldText(isLong ? 'code.textSentLong' : 'code.textSent', { to: sentTo ?? '', time })
        : page.boldText(totp ? 'code.textEnrol' : 'code.textTotp');
    element('code-help').hidden = isRecovery || (kind !== 'address' && kind !== 'email');
    this.#resend.hidden = isRecovery || kind === 'totp';
    element('code-title').textContent = page.text(title);
    element('code-text').replaceChildren(...text);
    const label = isRecovery ? 'code.recoveryLabel' : isLong ? 'code.labelLong' : 'code.label';
    element('otp-label').textContent = page.text(label);
    element('recovery').textContent = page.text(isRecovery ? 'code.back' : 'code.recovery');
  }

  /** Empties the field and sets its format. */
  #setFormat(format: CodeFormat = this.#asked.codeFormat ?? 'digits'): void {
    this.#forgetLast();
    const { field } = this;
    field.value = '';
    field.dataset['format'] = format;
    field.inputMode = format === 'digits' ? 'numeric' : 'text';
    field.autocapitalize = format === 'long' ? 'characters' : 'none';
    field.autocomplete = format === 'recovery' ? 'off' : 'one-time-code';
  }

  #enrol(totp: CodePromptOptions['totp']): void {
    element('enrolment').hidden = !totp;
    const picture = element('qr');
    picture.replaceChildren();
    if (!totp) return;
    element('secret').textContent = (totp.secret.match(/.{1,4}/g) ?? []).join(' ');
    element('secret-copy').textContent = this.#page.text('page.copy');
    element<HTMLAnchorElement>('otpauth').href = totp.otpauthUri;
    // Loaded on demand, since few users enroll an app; the secret as text shows at once.
    import('@latchkey/browser/qr').then(
      ({ drawQr }) => picture.replaceChildren(drawQr(totp.otpauthUri)),
      () => {
        picture.hidden = true;
      },
    );
  }
}
