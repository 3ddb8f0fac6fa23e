import { generateURI, verifySync } from 'otplib';
import { typedCode } from '../otp/typed-code.ts';

/** Time-step in seconds (RFC 6238 §4.1). */
const stepSeconds = 30;

/** 160 bits in base32, as RFC 4226 §4 recommends. */
export function newTotpSecret(bytes: (count: number) => Uint8Array): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  return [...bytes(32)].map((byte) => alphabet[byte % 32]).join('');
}

/** The URI in the QR code for an authenticator app (Key URI format). */
export function otpauthUri(secret: string, issuer: string, account: string): string {
  return generateURI({ issuer, label: account, secret });
}

/**
 * The time-step of a typed code, the current one or an adjacent one (RFC 6238 §5.2), if it is later than `lastStep`; null:
 * the code is wrong or was used before.
 */
export function totpStep(secret: string, typed: string, nowSeconds: number, lastStep: number | null): number | null {
  const code = typedCode(typed);
  if (!/^\d{6}$/.test(code)) return null;
  const result = verifySync({ secret, token: code, epoch: nowSeconds, epochTolerance: stepSeconds });
  if (!result.valid || !('timeStep' in result)) return null;
  return lastStep === null || result.timeStep > lastStep ? result.timeStep : null;
}

/** Wrong codes after which a factor is disabled until a recovery code is accepted. */
export const failuresUntilOff = 50;
const failuresUntilWait = 5;

/** Seconds to wait after this many consecutive wrong codes: 30 at the fifth, doubling up to an hour. */
export function waitAfter(failures: number): number {
  const rounds = Math.floor(failures / failuresUntilWait);
  return rounds === 0 || failures % failuresUntilWait !== 0 ? 0 : Math.min(3600, 30 * 2 ** (rounds - 1));
}
