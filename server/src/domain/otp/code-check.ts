/** Attempts that one code allows. */
export const triesPerCode = 5;
/** Lifetime of a code. */
export const codeTtlSeconds = 5 * 60;

/** A code whose attempt has been counted. */
export interface TriedCode {
  /** Attempts so far, including this one. */
  attempts: number;
  expiresAt: Date;
  usedAt: Date | null;
  /** Whether it was sent. */
  isSent: boolean;
  /** Whether the typed code matches. */
  matches: boolean;
  /** Whether device key and client are those that requested it. */
  sameKey: boolean;
}

/** The reason why a code is refused; for the audit log only: the API returns one error for all. */
export type CodeFault = 'none-sent' | 'used' | 'expired' | 'spent' | 'other-key' | 'wrong' | 'account-changed';

/** Checks an attempt at a one-time code; null: accepted. Checks the code's state before its digits. */
export function checkCode(code: TriedCode, now: Date): CodeFault | null {
  if (!code.isSent) return 'none-sent';
  if (code.usedAt) return 'used';
  if (code.expiresAt <= now) return 'expired';
  if (code.attempts > triesPerCode) return 'spent';
  if (!code.sameKey) return 'other-key';
  return code.matches ? null : 'wrong';
}
