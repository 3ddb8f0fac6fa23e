import type { LatchkeyError } from '../error.ts';
import type { SignInState } from '../flow/state.ts';
import { type Key, keys } from './keys.ts';
import { loaded, messages } from './messages.ts';

/** A language, and its texts in the order of `keys`. */
export type Texts = { language: string; texts: readonly string[] };
/** The text of a key with its placeholders filled. */
export type Translate = { (key: Key, values?: Record<string, string>): string; language: string; dir: string };

/** Tags of the same language as another, or of a former name. */
const same: Record<string, string> = { iw: 'he', nn: 'nb', no: 'nb' };

/** The first language with texts among the tags (RFC 4647 section 3.4); otherwise English. */
export function languageAmong(tags: readonly string[]): string {
  for (const tag of tags) {
    const [first = ''] = tag.toLowerCase().split('-');
    const base = same[first] ?? first;
    // There are no texts in traditional characters.
    if (/^zh-(hant|tw|hk|mo)\b/i.test(tag)) continue;
    const found = [...Object.keys(messages), ...loaded].find((one) => one.split('-')[0] === base);
    if (found) return found;
  }
  return 'en';
}

/**
 * The texts in the language of the nearest `lang`, otherwise of the browser. The instance serves those that are not in the script.
 * Never throws.
 */
export async function textsFor(element: Element, base: string): Promise<Texts> {
  const language = languageAmong([element.closest('[lang]')?.getAttribute('lang') ?? '', ...navigator.languages]);
  const own = (messages as Record<string, string[]>)[language];
  if (own) return { language, texts: own };
  try {
    const signal = AbortSignal.timeout(5000);
    const response = await fetch(`${base}/sdk/texts/${language}.json`, { credentials: 'omit', signal });
    const texts = (await response.json()) as Record<string, string>;
    return { language, texts: keys.map((key, index) => texts[key] ?? messages.en[index] ?? '') };
  } catch {
    return { language: 'en', texts: messages.en };
  }
}

export function translatorOf({ language, texts }: Texts, always: Record<string, string>): Translate {
  const dir = /^(ar|he)/.test(language) ? 'rtl' : 'ltr';
  const t = (key: Key, values: Record<string, string> = {}) => {
    const filling: Record<string, string> = { ...always, ...values };
    return (texts[keys.indexOf(key)] ?? '').replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = filling[name];
      // Isolated (UAX #9): a name would change the order of the words around it.
      return value === undefined ? whole : dir === 'rtl' ? `\u2068${value}\u2069` : value;
    });
  };
  return Object.assign(t, { language, dir });
}

function minutes(seconds: number, language: string): string {
  const options = { style: 'unit', unit: 'minute', unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(language, options).format(Math.ceil(seconds / 60));
}

/** Text of each error that has its own. */
const problems: Record<string, Key> = {
  INVALID_EMAIL: 'problem.email',
  PHONE_INVALID: 'problem.phone',
  PHONE_NOT_ALLOWED: 'problem.phoneNotAllowed',
  PHONE_LOCKED_BY_PROVISIONING: 'problem.phoneLocked',
  MFA_METHOD_NOT_ALLOWED: 'problem.method',
  TRANSACTION_EXPIRED: 'problem.expired',
  DEVICE_KEY_LOST: 'problem.restart',
  DEVICE_REVOKED: 'problem.revoked',
  ACCOUNT_INACTIVE: 'problem.inactive',
  NO_ACCESS: 'problem.noAccess',
  APPROVAL_REQUIRED: 'problem.approval',
  OUT_OF_ORDER: 'problem.restart',
  NONCE_REJECTED: 'problem.restart',
  PROOF_REQUIRED: 'problem.restart',
  PROOF_REJECTED: 'problem.restart',
  PASSKEY_CANCELLED: 'problem.passkeyNotUsed',
  PASSKEY_REJECTED: 'problem.passkeyRejected',
  PASSKEY_UNKNOWN: 'problem.passkeyRejected',
  PASSKEY_VERIFICATION_REQUIRED: 'problem.passkeyVerification',
  PASSKEY_MODEL_NOT_ALLOWED: 'problem.passkeyRejected',
  PASSKEY_UNSUPPORTED: 'problem.passkeyUnsupported',
  PASSKEYS_NOT_ALLOWED: 'problem.passkeyUnsupported',
  STORAGE_UNAVAILABLE: 'problem.storage',
  INSECURE_CONTEXT: 'problem.insecure',
  OFFLINE: 'problem.network',
  NETWORK: 'problem.network',
  TIMEOUT: 'problem.network',
};

/** The message for the user. An error of the page goes to its developer, unchanged. */
export function problemOf(error: LatchkeyError, state: SignInState, t: Translate): string {
  if (error.code === 'CODE_INCOMPLETE' || error.code === 'CODE_REJECTED') return codeProblem(error, state, t);
  if (error.code === 'RATE_LIMITED')
    return t(error.reason === 'network' ? 'problem.networkLimit' : 'problem.wait', {
      time: minutes(error.retryAfter ?? 60, t.language),
    });
  if (state.step === 'new-passkey' && error.code === 'PASSKEY_CANCELLED') return t('problem.newPasskey');
  const key = problems[error.code];
  if (key) return t(key);
  return error.category === 'fatal' ? error.message : t('problem.server');
}

function codeProblem({ code }: LatchkeyError, state: SignInState, t: Translate): string {
  const isMissing = code === 'CODE_INCOMPLETE';
  if (state.step !== 'code') return t(isMissing ? 'problem.empty' : 'problem.recovery');
  if (isMissing) return t(state.codeFormat === 'long' ? 'problem.long' : 'problem.digits');
  return t(state.method === 'totp' ? 'problem.codeTotp' : 'problem.code');
}
