/**
 * Entry point for apps without a page, such as React Native and Expo: `createLatchkey` with a storage of the platform.
 * The operations are those of the browser; passkeys are not available.
 */
import { fields, invalid } from '../arguments.ts';
import { LatchkeyError } from '../error.ts';
import { createClient, type Latchkey } from '../latchkey.ts';
import { type SecureStorage, secureStore } from './secure-store.ts';

export { LatchkeyError, type LatchkeyErrorCategory, type LatchkeyErrorCode } from '../error.ts';
export type { SignIn, SignInAction, SignInState, StartOptions } from '../flow/state.ts';
export type { Latchkey, LatchkeyConfig, LatchkeyOptions } from '../latchkey.ts';
export { createPkce, type Pkce } from '../pkce.ts';
export { memoryStorage, type SecureStorage } from './secure-store.ts';

export type NativeOptions = {
  /** An origin of the client's redirect URIs, such as that of the app's universal links. */
  origin: string;
  /** Storage of device keys: the platform's secure store. */
  storage: SecureStorage;
};

/**
 * Creates a client whose device keys are in `storage`. Needs `crypto.subtle` of the runtime or of a library.
 *
 * @throws LatchkeyError INVALID_ARGUMENT
 */
export function createLatchkey(options: NativeOptions): Latchkey {
  const { origin, storage } = fields(options, 'options');
  if (!isOrigin(origin)) throw invalid('origin must be an origin, such as https://app.example.com.');
  for (const name of ['getItem', 'setItem', 'removeItem'] as const)
    if (typeof storage?.[name] !== 'function') throw invalid(`storage.${name} must be a function.`);
  return createClient({
    origin: () => origin,
    // Only browsers set it by themselves.
    headers: { Origin: origin },
    store: (timeoutMs) => secureStore(storage, timeoutMs),
    check: () => {
      if (!globalThis.crypto?.subtle)
        throw new LatchkeyError(
          'INSECURE_CONTEXT',
          'fatal',
          'This app has no WebCrypto: install one before the SDK, such as react-native-quick-crypto.',
        );
    },
  });
}

function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\/[^/?#@\s]+$/.test(value);
}
