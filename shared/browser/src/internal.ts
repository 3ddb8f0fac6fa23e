/**
 * For Latchkey's own hosted pages, not for applications: the same steps with the flow's cookie in place of an API key.
 * Nothing here is stable between versions.
 */
import type { Application, DeviceKey } from './device-key.ts';
import { indexedDbStore } from './indexed-db.ts';
import { checkBrowser } from './latchkey.ts';
import { Signin } from './signin.ts';

export { LatchkeyError } from './error.ts';
export type { CodeFormat, InitiateMfaResult, MfaMethod } from './results.ts';

/** This browser's keys among those with these thumbprints, of whichever client and address. */
export async function findKeys(thumbprints: readonly string[]): Promise<DeviceKey[]> {
  return (await indexedDbStore().listKeys()).filter(({ kid }) => thumbprints.includes(kid));
}

/** Deletes this browser's keys with these thumbprints. */
export async function forgetKeys(thumbprints: readonly string[]): Promise<void> {
  const store = indexedDbStore();
  for (const key of await findKeys(thumbprints)) await store.removeKey(key);
}

/** How a sign-in ends on the hosted page: with the address that leads back to the application. */
export type Redirected = { redirectTo: string };

export type HostedSignin = {
  signin: Signin<Redirected>;
  /** The person who signed in here last on this trusted browser, or nobody. */
  trustedUser: () => Promise<string | undefined>;
};

/**
 * The sign-in of one flow at the issuer's own origin.
 * @throws LatchkeyError INSECURE_CONTEXT or STORAGE_UNAVAILABLE where no device key can be kept
 */
export async function hostedSignin(application: Application, flow: string): Promise<HostedSignin> {
  await checkBrowser();
  const store = indexedDbStore();
  const connection = {
    baseUrl: application.issuer,
    headers: { 'Signin-Flow': flow },
    credentials: 'same-origin' as const,
    timeoutMs: 15_000,
  };
  return {
    signin: new Signin({ connection, store, origin: location.origin, now: Date.now, application }),
    async trustedUser() {
      const keys = (await store.listKeys(application)).filter((key) => key.registered);
      return keys.sort((a, b) => b.usedAt - a.usedAt)[0]?.userid;
    },
  };
}
