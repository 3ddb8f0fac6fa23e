import type { Application, DeviceKey, DeviceStore, KeyOwner } from '../device-key.ts';
import { sha256, utf8 } from '../encoding.ts';
import { LatchkeyError } from '../error.ts';

/**
 * The port to a platform's secure store, such as the Keychain of iOS or the Keystore of Android. Names have letters,
 * digits, `.`, `-` and `_`; values have at most 2,000 characters.
 */
export interface SecureStorage {
  /** The value, or null. */
  getItem(name: string): Promise<string | null>;
  setItem(name: string, value: string): Promise<void>;
  removeItem(name: string): Promise<void>;
}

/** Keeps device keys until the process ends: for tests, and as a reference of the port. */
export function memoryStorage(): SecureStorage {
  const values = new Map<string, string>();
  return {
    getItem: async (name) => values.get(name) ?? null,
    setItem: async (name, value) => void values.set(name, value),
    removeItem: async (name) => void values.delete(name),
  };
}

/** A device key as text: `d` is its private part (RFC 7518 §6.2.2.1). */
type StoredKey = Omit<DeviceKey, 'privateKey'> & { d: string };

const index = 'latchkey.keys';
/** Lets the index fit into one value. Beyond this limit, the least recently used key is deleted. */
const maxKeys = 20;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };

/** The end of the last operation on each storage, which has no transactions. */
const last = new WeakMap<SecureStorage, Promise<unknown>>();

/** Device keys in a secure store, one operation at a time. One that is late no longer delays the others. */
export function secureStore(storage: SecureStorage, timeoutMs: number): DeviceStore {
  const run = <T>(work: () => Promise<T>): Promise<T> => {
    const result = inTime((last.get(storage) ?? Promise.resolve()).then(work), timeoutMs);
    last.set(
      storage,
      result.catch(() => undefined),
    );
    return result;
  };

  const read = async <T>(name: string): Promise<T | undefined> => parsed(await storage.getItem(name));
  const write = (name: string, value: unknown) => storage.setItem(name, JSON.stringify(value));
  const names = async () => (await read<string[]>(index)) ?? [];

  /** Stores a key as the one used last. */
  async function put(name: string, key: StoredKey): Promise<void> {
    await write(name, key);
    const all = [...(await names()).filter((one) => one !== name), name];
    for (const old of all.splice(0, Math.max(0, all.length - maxKeys))) await storage.removeItem(old);
    await write(index, all);
  }

  return {
    isText: true,
    findApplication: (credential) => run(async () => read<Application>(await nameOf('app', [credential]))),
    saveApplication: (credential, application) =>
      run(async () => write(await nameOf('app', [credential]), application)),
    findKey: (owner) => run(async () => imported(await read(await ofOwner(owner)))),
    listKeys: (application) =>
      run(async () => {
        const keys: DeviceKey[] = [];
        for (const name of await names()) {
          const key = await read<StoredKey>(name);
          const isWanted =
            !application || (key?.issuer === application.issuer && key.clientId === application.clientId);
          const found = isWanted && (await imported(key));
          if (found) keys.push(found);
        }
        return keys;
      }),
    addKey: (key) =>
      run(async () => {
        const name = await ofOwner(key);
        const existing = await imported(await read(name));
        if (existing) return existing;
        const { privateKey, ...rest } = key;
        const { d = '' } = await crypto.subtle.exportKey('jwk', privateKey);
        const stored = { ...rest, d };
        await put(name, stored);
        return (await imported(stored)) ?? key;
      }),
    changeKey: (owner, change) =>
      run(async () => {
        const name = await ofOwner(owner);
        const key = await read<StoredKey>(name);
        if (key) await put(name, { ...key, ...change });
        return key !== undefined;
      }),
    removeKey: (key) =>
      run(async () => {
        const name = await ofOwner(key);
        if ((await read<StoredKey>(name))?.kid !== key.kid) return;
        await storage.removeItem(name);
        await write(
          index,
          (await names()).filter((one) => one !== name),
        );
      }),
  };
}

const ofOwner = ({ issuer, clientId, userid }: KeyOwner) => nameOf('key', [issuer, clientId, userid]);

/** A name that the store of each platform accepts. */
async function nameOf(kind: 'app' | 'key', parts: string[]): Promise<string> {
  return `latchkey.${kind}.${await sha256(utf8(JSON.stringify(parts)))}`;
}

/** A damaged value counts as missing: the next sign-in creates a new key. */
function parsed<T>(text: string | null): T | undefined {
  try {
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

async function imported(stored: StoredKey | undefined): Promise<DeviceKey | undefined> {
  if (!stored) return undefined;
  const { d, ...key } = stored;
  const privateKey = await crypto.subtle.importKey('jwk', { ...key.publicJwk, d }, algorithm, false, ['sign']);
  return { ...key, privateKey };
}

/** @throws LatchkeyError TIMEOUT, STORAGE_UNAVAILABLE */
async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const late = `The secure store did not respond within ${timeoutMs} ms. Try again.`;
    timer = setTimeout(() => reject(new LatchkeyError('TIMEOUT', 'retryable', late)), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } catch (cause) {
    if (cause instanceof LatchkeyError) throw cause;
    const problem = 'The secure store failed: see cause.';
    throw new LatchkeyError('STORAGE_UNAVAILABLE', 'user_action', problem, { cause });
  } finally {
    clearTimeout(timer);
  }
}
