import type { LatchkeyError } from '@latchkey/browser/internal';
import { countDown, wait } from './countdown.ts';
import { fill, fillBold, type Texts } from './texts.ts';

/** The page's element with this ID. */
export const element = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;

/** Shows an address with a zero-width space before `@` and dots: it breaks there, not within a word. Returns it. */
export function showAddress(id: string, address: string): string {
  element(id).textContent = address.replace(/[@.]/g, '\u200b$&');
  return address;
}

export type Step =
  | 'address'
  | 'code'
  | 'choose'
  | 'phone'
  | 'passkey'
  | 'new-passkey'
  | 'recovery-codes'
  | 'offer'
  | 'done'
  | 'ended';
/** Steps that have input and can show an error. */
type Question = Exclude<Step, 'recovery-codes' | 'done' | 'ended'>;

/** Milliseconds before a slow request is explained. */
const slowAfter = 4_000;

/** The visible page: one step at a time, with errors and busy states. */
export class Page {
  readonly data = document.body.dataset as Record<string, string>;
  readonly language = document.documentElement.lang;
  #texts: Texts = {};
  #step: Step = 'address';
  #busy = false;
  #hasDialog = false;
  /** Field values when the request in flight began. */
  readonly #sent = new Map<HTMLInputElement, string>();

  takeTexts(texts: Texts): void {
    this.#texts = texts;
  }

  get step(): Step {
    return this.#step;
  }

  text(key: string, values: Record<string, string> = {}): string {
    return fill(this.#texts, key, this.#withNames(values));
  }

  boldText(key: string, values: Record<string, string> = {}): (string | Element)[] {
    return fillBold(this.#texts, key, this.#withNames(values));
  }

  /** The address step of a pending sign-in is hidden until its step is known. */
  reveal(): void {
    delete this.data['pending'];
  }

  /** Shows a step without errors and focuses its field or heading. */
  show(step: Step, focus?: HTMLElement | null): void {
    this.reveal();
    for (const section of document.querySelectorAll<HTMLElement>('.step')) section.hidden = section.id !== step;
    const moved = step !== this.#step;
    this.#step = step;
    this.clearProblem();
    const title = element(`${step}-title`);
    const [text, name] = [title.textContent, this.data['clientName'] ?? ''];
    document.title = text.includes(name) ? text : `${text} · ${name}`;
    if (moved) scrollTo(0, 0);
    (focus ?? title).focus();
  }

  /** Shows an error beside the field of the current step. */
  problem(message: string, field?: HTMLInputElement | null, reference?: string): void {
    this.reveal();
    const step = this.#step as Question;
    const place = element(`${step}-error`);
    place.textContent = message;
    // Shows the support code. Input can be corrected without help.
    place.className = field || reference ? 'problem' : 'problem help';
    if (reference) {
      const small = document.createElement('small');
      small.textContent = this.text('problem.reference', { id: reference });
      place.append(small);
    }
    field?.setAttribute('aria-invalid', 'true');
    // Do not select text typed in the meantime: the next key would replace it.
    if (!field || this.isTypedOver(field)) return;
    field.focus();
    field.select();
  }

  /** Shows a message in place of an error, for example after the user cancelled. */
  showNotice(message: string): void {
    this.problem(message);
    element(`${this.#step}-error`).classList.add('mild');
  }

  /** Shows a countdown; screen readers announce only its beginning and end. */
  wait(seconds: number, key = 'problem.wait'): void {
    this.problem('');
    const place = element(`${this.#step as Question}-error`);
    const [seen, spoken] = [document.createElement('span'), document.createElement('span')];
    seen.ariaHidden = 'true';
    spoken.className = 'spoken';
    const waitText = (left: number) => this.text(key, { time: wait(left, this.language) });
    spoken.textContent = waitText(seconds);
    place.append(seen, spoken);
    countDown(seconds, (left) => {
      // Another message has replaced this one.
      if (!place.contains(seen)) return false;
      if (left > 0) seen.textContent = waitText(left);
      else {
        place.textContent = this.text('problem.waited');
        place.classList.add('mild');
      }
      return true;
    });
  }

  /** Whether the field changed since the request in flight began. */
  isTypedOver(field: HTMLInputElement): boolean {
    return (this.#sent.get(field) ?? field.value) !== field.value;
  }

  clearProblem(): void {
    const form = element(this.#step);
    for (const place of form.querySelectorAll('.problem')) place.textContent = '';
    for (const field of form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
  }

  /** Whether an action waits for the network: another one is ignored. While it waits for the user, another one replaces it. */
  get isWorking(): boolean {
    return this.#busy && !this.#hasDialog;
  }

  /** Runs an action, marked busy and explained if slow. `hasDialog`: it waits for the user, not the network. */
  async busy(work: () => Promise<void>, { hasDialog = false } = {}): Promise<void> {
    this.#busy = true;
    this.#hasDialog = hasDialog;
    for (const field of document.querySelectorAll('input')) this.#sent.set(field, field.value);
    const main = document.querySelector('main')!;
    main.setAttribute('aria-busy', 'true');
    const timer = setTimeout(() => {
      if (!hasDialog) element('slow').textContent = this.text('page.slow');
    }, slowAfter);
    try {
      await work();
    } finally {
      clearTimeout(timer);
      element('slow').textContent = '';
      main.removeAttribute('aria-busy');
      this.#busy = false;
      this.#sent.clear();
    }
  }

  /** Text for an error that is not caused by the input. @param other for errors without a text of their own */
  sentence(error: LatchkeyError, other = 'problem.server'): string {
    return this.text(sentences[error.code] ?? other, { address: this.data['issuer']! });
  }

  #withNames(values: Record<string, string>): Record<string, string> {
    return { app: this.data['clientName'] ?? '', project: this.data['projectName'] ?? '', ...values };
  }
}

const sentences: Record<string, string> = {
  PHONE_INVALID: 'problem.phone',
  PHONE_NOT_ALLOWED: 'problem.phoneNotAllowed',
  PHONE_LOCKED_BY_PROVISIONING: 'problem.phoneLocked',
  MFA_METHOD_NOT_ALLOWED: 'problem.method',
  TRANSACTION_EXPIRED: 'problem.expired',
  NONCE_REJECTED: 'problem.restart',
  DEVICE_KEY_LOST: 'problem.keyLost',
  DEVICE_REVOKED: 'problem.revoked',
  ACCOUNT_INACTIVE: 'problem.inactive',
  APPROVAL_REQUIRED: 'problem.approval',
  PASSKEY_REJECTED: 'problem.passkeyRejected',
  PASSKEY_UNKNOWN: 'problem.passkeyUnknown',
  PASSKEY_VERIFICATION_REQUIRED: 'problem.passkeyVerification',
  PASSKEY_MODEL_NOT_ALLOWED: 'problem.passkeyModel',
  PASSKEYS_NOT_ALLOWED: 'problem.passkeyUnsupported',
  PASSKEY_REQUIRED: 'problem.passkeyUnsupported',
  PASSKEY_UNSUPPORTED: 'problem.passkeyUnsupported',
  STORAGE_UNAVAILABLE: 'problem.storage',
  INSECURE_CONTEXT: 'problem.insecure',
  ORIGIN_NOT_ALLOWED: 'problem.host',
  OFFLINE: 'problem.offline',
  NETWORK: 'problem.network',
  TIMEOUT: 'problem.network',
};
