/** Tries that one code allows. */
export const triesPerCode = 5;
/** How long a code is good. */
export const codeTtlSeconds = 5 * 60;

/** What is known of a code when somebody tries it, the try counted already. */
export interface TriedCode {
  /** Tries so far, this one included. */
  attempts: number;
  expiresAt: Date;
  usedAt: Date | null;
  /** When a newer one took its place. */
  replacedAt: Date | null;
  /** Whether the digits are those of the code. */
  matches: boolean;
  /** Whether it is tried with the device key that asked for it. */
  sameKey: boolean;
}

/** Why a code is refused; for the audit log, never for the wire, where all of them are one. */
export type CodeFault = 'none-sent' | 'used' | 'replaced' | 'expired' | 'spent' | 'other-key' | 'wrong';

/** Judges one try at a one-time code; null: it is right. What holds for the code itself comes before its digits. */
export function judgeCode(code: TriedCode, now: Date): CodeFault | null {
  if (code.usedAt) return 'used';
  if (code.replacedAt) return 'replaced';
  if (code.expiresAt <= now) return 'expired';
  if (code.attempts > triesPerCode) return 'spent';
  if (!code.sameKey) return 'other-key';
  return code.matches ? null : 'wrong';
}
