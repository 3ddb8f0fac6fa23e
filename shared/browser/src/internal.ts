/**
 * Entry point for Latchkey's hosted pages, not for applications: the same steps with the flow's cookie instead of an
 * API key. Unstable between versions.
 */
import type { Application, DeviceKey, DeviceStore } from './device-key.ts';
import { checkBrowser } from './environment.ts';
import { indexedDbStore } from './indexed-db.ts';
import { Signin } from './signin/signin.ts';

export { LatchkeyError } from './error.ts';
export { passkeySupport } from './passkey-support.ts';
export { signalAccepted, signalUser } from './passkeys.ts';
export type { CodeFormat, InitiateMfaResult, MfaMethod } from './results.ts';

/** This browser's keys with these thumbprints, of any client and user. */
export async function findKeys(thumbprints: readonly string[]): Promise<DeviceKey[]> {
  return (await indexedDbStore().listKeys()).filter(({ kid }) => thumbprints.includes(kid));
}

/** Deletes this browser's keys with these thumbprints. */
export async function forgetKeys(thumbprints: readonly string[]): Promise<void> {
  const store = indexedDbStore();
  for (const key of await findKeys(thumbprints)) await store.removeKey(key);
}

/**
 * Result of a sign-in on the hosted page: the URL that returns to the application. With `passkeyOffer`, `createPasskey`
 * is allowed for five minutes.
 */
export type Redirected = { redirectTo: string; passkeyOffer?: true };

export type HostedSignin = {
  signin: Signin<Redirected>;
  /** The user who last signed in on this trusted browser, if any. */
  trustedUser: () => Promise<string | undefined>;
};

/**
 * The sign-in of one flow, on the issuer's origin.
 *
 * @throws LatchkeyError INSECURE_CONTEXT or STORAGE_UNAVAILABLE if device keys cannot be stored
 */
export async function hostedSignin(application: Application, flow: string): Promise<HostedSignin> {
  checkBrowser();
  const own = indexedDbStore();
  await own.findApplication('');
  const store = storeOfProject(own, application);
  const connection = {
    baseUrl: application.issuer,
    headers: { 'Signin-Flow': flow },
    credentials: 'same-origin' as const,
    timeoutMs: 15_000,
  };
  const signin = new Signin<Redirected>({ connection, store, origin: location.origin, now: Date.now, application });
  return { signin, trustedUser: () => signin.lastUser() };
}

/**
 * The keys of the hosted page: one per person and project, since one origin serves all its applications. A key that an
 * earlier version stored for one of them is moved.
 */
function storeOfProject(store: DeviceStore, { projectId }: Application): DeviceStore {
  const own = <Owner extends { clientId: string }>(owner: Owner): Owner => ({ ...owner, clientId: projectId });
  const moved = async (key: DeviceKey): Promise<DeviceKey> => {
    const kept = await store.addKey(own(key));
    await store.removeKey(key);
    return kept;
  };
  return {
    ...store,
    async findKey(owner) {
      const [found, earlier] = [await store.findKey(own(owner)), await store.findKey(owner)];
      return found ?? (earlier && moved(earlier));
    },
    async listKeys(application) {
      if (!application) return store.listKeys();
      return [...(await store.listKeys(own(application))), ...(await store.listKeys(application))];
    },
    addKey: (key) => store.addKey(own(key)),
    changeKey: (owner, change) => store.changeKey(own(owner), change),
    removeKey: (key) => store.removeKey(own(key)),
  };
}
