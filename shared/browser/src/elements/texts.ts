import type { LatchkeyError } from '../error.ts';
import type { SignInState } from '../flow/state.ts';
import { type Key, keys } from './keys.ts';
import { messages } from './messages.ts';

type Language = keyof typeof messages;
/** The text of a key with its placeholders filled. */
export type Translate = { (key: Key, values?: Record<string, string>): string; language: string };

/** The language of the nearest `lang`, if there are texts in it; otherwise of the browser; otherwise English. */
export function languageOf(element: Element): Language {
  const wanted = [element.closest('[lang]')?.getAttribute('lang') ?? '', ...navigator.languages];
  for (const one of wanted) {
    const language = one.slice(0, 2).toLowerCase();
    if (language in messages) return language as Language;
  }
  return 'en';
}

export function translatorOf(language: Language, always: Record<string, string>): Translate {
  const texts = messages[language];
  const t = (key: Key, values: Record<string, string> = {}) => {
    const filling: Record<string, string> = { ...always, ...values };
    return (texts[keys.indexOf(key)] ?? '').replace(/\{(\w+)\}/g, (whole, name: string) => filling[name] ?? whole);
  };
  return Object.assign(t, { language });
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
