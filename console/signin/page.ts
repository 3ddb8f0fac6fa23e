import type { LatchkeyError } from '@latchkey/browser/internal';
import { fill, fillBold, type Texts, wait } from './texts.ts';

/** The element of the page with this id; the page and its script are made for each other. */
export const element = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;

export type Step = 'address' | 'code' | 'choose' | 'phone' | 'recovery-codes' | 'done' | 'ended';
/** Steps that ask, and can be answered wrongly. */
type Question = Exclude<Step, 'recovery-codes' | 'done' | 'ended'>;

/** Milliseconds after which a wait is explained. */
const slowAfter = 4_000;

/** What the person sees: one question at a time, its errors and its waits. */
export class Page {
  readonly data = document.body.dataset as Record<string, string>;
  readonly language = document.documentElement.lang;
  #texts: Texts = {};
  #step: Step = 'address';
  #busy = false;
  /** What each field held when the work in progress began. */
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

  /** Shows one question, without errors, and moves the focus to its field or its heading. */
  show(step: Step, focus?: HTMLElement | null): void {
    for (const section of document.querySelectorAll<HTMLElement>('.step')) section.hidden = section.id !== step;
    const moved = step !== this.#step;
    this.#step = step;
    this.clearProblem();
    const title = element(`${step}-title`);
    document.title = `${title.textContent} · ${this.data['clientName']}`;
    if (moved) scrollTo(0, 0);
    (focus ?? title).focus();
  }

  /** Says what is wrong with the answer to the present question, beside its field. */
  problem(message: string, field?: HTMLInputElement | null, reference?: string): void {
    const step = this.#step as Question;
    const place = element(`${step}-error`);
    place.textContent = message;
    if (reference) {
      const small = document.createElement('small');
      small.textContent = this.text('problem.reference', { id: reference });
      place.append(small);
    }
    field?.setAttribute('aria-invalid', 'true');
    // Whoever has typed on meanwhile keeps what they typed: selected, it would go with their next letter.
    if (!field || this.isTypedOver(field)) return;
    field.focus();
    field.select();
  }

  /** Whether the field holds something else than what is being asked about. */
  isTypedOver(field: HTMLInputElement): boolean {
    return (this.#sent.get(field) ?? field.value) !== field.value;
  }

  clearProblem(): void {
    const form = element(this.#step);
    for (const place of form.querySelectorAll('.problem')) place.textContent = '';
    for (const field of form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
  }

  /** Runs what a button started: once at a time, marked as busy, and explained where it takes long. */
  async busy(work: () => Promise<void>): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (const field of document.querySelectorAll('input')) this.#sent.set(field, field.value);
    const main = document.querySelector('main')!;
    main.setAttribute('aria-busy', 'true');
    const timer = setTimeout(() => {
      element('slow').textContent = this.text('page.slow');
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

  /** The sentence for a failure that is not the fault of what was entered. */
  sentence(error: LatchkeyError): string {
    const { code, retryAfter } = error;
    if (code === 'RATE_LIMITED') return this.text('problem.wait', { time: wait(retryAfter ?? 60, this.language) });
    return this.text(sentences[code] ?? 'problem.server');
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
  OUT_OF_ORDER: 'problem.restart',
  PROOF_REQUIRED: 'problem.restart',
  PROOF_REJECTED: 'problem.restart',
  NONCE_REJECTED: 'problem.restart',
  DEVICE_KEY_LOST: 'problem.keyLost',
  DEVICE_REVOKED: 'problem.revoked',
  STORAGE_UNAVAILABLE: 'problem.storage',
  INSECURE_CONTEXT: 'problem.insecure',
  OFFLINE: 'problem.offline',
  NETWORK: 'problem.network',
  TIMEOUT: 'problem.network',
  UNEXPECTED_RESPONSE: 'problem.server',
};
