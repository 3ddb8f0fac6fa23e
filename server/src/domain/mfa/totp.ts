import { generateURI, verifySync } from 'otplib';

/** Seconds of one time-step (RFC 6238 §4.1). */
const stepSeconds = 30;

/** 160 bits in base32, as RFC 4226 §4 advises. */
export function newTotpSecret(bytes: (count: number) => Uint8Array): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  return [...bytes(32)].map((byte) => alphabet[byte % 32]).join('');
}

/** What an authenticator app reads from a QR code (the Key URI format). */
export function otpauthUri(secret: string, issuer: string, account: string): string {
  return generateURI({ issuer, label: account, secret });
}

/**
 * The time-step whose code this is, the present one or a neighbour (RFC 6238 §5.2), if it is later than `lastStep`;
 * null: it is no such code, or its step was used before.
 */
export function totpStep(secret: string, code: string, nowSeconds: number, lastStep: number | null): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const result = verifySync({ secret, token: code, epoch: nowSeconds, epochTolerance: stepSeconds });
  if (!result.valid || !('timeStep' in result)) return null;
  return lastStep === null || result.timeStep > lastStep ? result.timeStep : null;
}

/** Wrong codes after which a factor is off until its user shows another way that they are themselves. */
export const failuresUntilOff = 50;
const failuresUntilWait = 5;

/** Seconds to wait after this many wrong codes in a row: none at first, 30 at the fifth, then doubling up to an hour. */
export function waitAfter(failures: number): number {
  const rounds = Math.floor(failures / failuresUntilWait);
  return rounds === 0 || failures % failuresUntilWait !== 0 ? 0 : Math.min(3600, 30 * 2 ** (rounds - 1));
}
