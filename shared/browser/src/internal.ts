/**
 * Entry point for Latchkey's hosted pages, not for applications: the same steps with the flow's cookie instead of an
 * API key. Unstable between versions.
 */
import { type Application, createDeviceKey, type DeviceKey, type DeviceStore } from './device-key.ts';
import { checkBrowser } from './environment.ts';
import { LatchkeyError } from './error.ts';
import { indexedDbStore, tryKey } from './indexed-db.ts';
import { memoryStore } from './memory-store.ts';
import { type ResumedSignin, resume } from './signin/resume.ts';
import { Signin } from './signin/signin.ts';
import { Transactions } from './signin/transactions.ts';

export { LatchkeyError } from './error.ts';
export { asPhoneNumber } from './flow/inputs.ts';
export { passkeySupport } from './passkey-support.ts';
export { signalAccepted, signalUser } from './passkeys.ts';
export type { CodeFormat, InitiateMfaResult, MfaMethod } from './results.ts';
export type { ResumedSignin } from './signin/resume.ts';

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
  /** False: the browser blocks its storage, so that this page keeps the device key in memory. */
  isStored: boolean;
  /** The pending sign-in of the flow, for a page that was reloaded. */
  resume: () => Promise<ResumedSignin | undefined>;
};

/**
 * The sign-in of one flow, on the issuer's origin.
 *
 * @throws LatchkeyError INSECURE_CONTEXT
 */
export async function hostedSignin(application: Application, flow: string): Promise<HostedSignin> {
  checkBrowser();
  const browser = indexedDbStore();
  const probe = await createDeviceKey({ issuer: application.issuer, clientId: '', userid: '' }, 0);
  const stored = await isStored(probe);
  const store = storeOfProject(stored ? browser : memoryStore(), application);
  const connection = {
    baseUrl: application.issuer,
    headers: { 'Signin-Flow': flow },
    credentials: 'same-origin' as const,
    timeoutMs: 15_000,
  };
  const setting = { connection, store, origin: location.origin, now: Date.now, application };
  const transactions = new Transactions(setting);
  const signin = new Signin<Redirected>(setting, transactions);
  return {
    signin,
    trustedUser: () => signin.lastUser(),
    isStored: stored,
    resume: () => resume(setting, transactions),
  };
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

/** Whether the browser keeps device keys: not if it blocks IndexedDB, or cannot store keys there (private windows). */
async function isStored(probe: DeviceKey): Promise<boolean> {
  try {
    await tryKey(probe);
    return true;
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === 'STORAGE_UNAVAILABLE') return false;
    throw error;
  }
}
