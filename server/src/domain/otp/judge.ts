/** Tries that one code allows. */
export const triesPerCode = 5;
/** Lifetime of a code. */
export const codeTtlSeconds = 5 * 60;

/** A code when it is tried, the try counted already. */
export interface TriedCode {
  /** Tries so far, this one included. */
  attempts: number;
  expiresAt: Date;
  usedAt: Date | null;
  /** Whether it was sent anywhere. */
  isSent: boolean;
  /** Whether the typed code is right. */
  matches: boolean;
  /** Whether it is tried with the device key and by the client that asked for it. */
  sameKey: boolean;
}

/** Why a code is refused; for the audit log, never for the wire, which has one answer for all. */
export type CodeFault = 'none-sent' | 'used' | 'expired' | 'spent' | 'other-key' | 'wrong' | 'account-changed';

/** Judges one try at a one-time code; null: it is right. The state of the code comes before its digits. */
export function judgeCode(code: TriedCode, now: Date): CodeFault | null {
  if (!code.isSent) return 'none-sent';
  if (code.usedAt) return 'used';
  if (code.expiresAt <= now) return 'expired';
  if (code.attempts > triesPerCode) return 'spent';
  if (!code.sameKey) return 'other-key';
  return code.matches ? null : 'wrong';
}
