import { LatchkeyError } from './error.ts';
import { indexedDbStore } from './indexed-db.ts';

/** @throws LatchkeyError INSECURE_CONTEXT */
export function requireCrypto(): void {
  if (!globalThis.crypto?.subtle)
    throw new LatchkeyError(
      'INSECURE_CONTEXT',
      'fatal',
      'WebCrypto requires a secure context: serve the page over https or from localhost.',
    );
}

/** Fails early if device keys cannot work: no page, no WebCrypto, no storage. */
export async function checkBrowser(timeoutMs?: number): Promise<void> {
  if (typeof window === 'undefined')
    throw new LatchkeyError(
      'NOT_A_BROWSER',
      'fatal',
      'The SDK requires a browser: do not call it during server-side rendering.',
    );
  requireCrypto();
  await indexedDbStore({ timeoutMs }).findApplication('');
}
