import { LatchkeyError } from './error.ts';

/** @throws LatchkeyError INSECURE_CONTEXT */
export function requireCrypto(): void {
  if (!globalThis.crypto?.subtle)
    throw new LatchkeyError(
      'INSECURE_CONTEXT',
      'fatal',
      'WebCrypto needs a secure context: serve the page over https or from localhost.',
    );
}

/** Fails early if the page cannot have device keys: no page, no WebCrypto. */
export function checkBrowser(): void {
  if (typeof window === 'undefined')
    throw new LatchkeyError('NOT_A_BROWSER', 'fatal', 'The SDK needs a browser: do not call it on a server.');
  requireCrypto();
}
