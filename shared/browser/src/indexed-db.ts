import type { Application, DeviceKey, DeviceStore, KeyOwner } from './device-key.ts';
import { LatchkeyError } from './error.ts';

const applications = 'applications';
const deviceKeys = 'device-keys';
const path = ['issuer', 'clientId', 'userid'] as const;
const primaryKey = (owner: KeyOwner) => path.map((name) => owner[name]);

const unavailable = (cause: unknown) =>
  new LatchkeyError(
    'STORAGE_UNAVAILABLE',
    'user_action',
    'IndexedDB, where device keys are kept, is off, full, or blocked in this private window. ' +
      'Allow site data for this page, or use another browser.',
    { cause },
  );

const late = (timeoutMs: number) =>
  new LatchkeyError(
    'TIMEOUT',
    'retryable',
    `The browser's storage did not respond within ${timeoutMs} ms. Close other tabs of this site and try again.`,
  );

/**
 * Device keys in IndexedDB. Each operation opens and closes its own connection: an open one breaks when the user clears
 * site data, blocks upgrades in other tabs, and disables the back/forward cache.
 */
export function indexedDbStore({ timeoutMs = 15_000 }: { timeoutMs?: number | undefined } = {}): DeviceStore {
  return {
    findApplication: (credential) =>
      run(timeoutMs, applications, 'readonly', (store) => store.get(credential)) as Promise<Application | undefined>,
    saveApplication: async (credential, application) => {
      await run(timeoutMs, applications, 'readwrite', (store) => store.put(application, credential));
    },
    findKey: (owner) =>
      run(timeoutMs, deviceKeys, 'readonly', (store) => store.get(primaryKey(owner))) as Promise<DeviceKey | undefined>,
    listKeys: (application) =>
      run(timeoutMs, deviceKeys, 'readonly', (store) => {
        if (!application) return store.getAll();
        const { issuer, clientId } = application;
        // An array sorts after every string, so this range covers all users of the client.
        return store.getAll(IDBKeyRange.bound([issuer, clientId], [issuer, clientId, []]));
      }) as Promise<DeviceKey[]>,
    addKey: (key) =>
      withKey(timeoutMs, key, (existing, store) => {
        if (!existing) store.put(key);
        return existing ?? key;
      }),
    changeKey: (owner, change) =>
      withKey(timeoutMs, owner, (existing, store) => {
        if (existing) store.put({ ...existing, ...change });
        return existing !== undefined;
      }),
    removeKey: (key) =>
      withKey(timeoutMs, key, (existing, store) => {
        if (existing?.kid === key.kid) store.delete(primaryKey(key));
      }),
  };
}

/** Stores a key and deletes it in one transaction, so that no other tab sees it. Rejects like any use of the store. */
export function tryKey(key: DeviceKey, timeoutMs = 15_000): Promise<unknown> {
  return run(timeoutMs, deviceKeys, 'readwrite', (store) => {
    store.put(key);
    return store.delete(primaryKey(key));
  });
}

/** Reads one key and calls `act` in the same transaction. */
async function withKey<T>(
  timeoutMs: number,
  owner: KeyOwner,
  act: (existing: DeviceKey | undefined, store: IDBObjectStore) => T,
): Promise<T> {
  let result: T;
  await run(timeoutMs, deviceKeys, 'readwrite', (store) => {
    const read = store.get(primaryKey(owner));
    read.onsuccess = () => {
      try {
        result = act(read.result, store);
      } catch {
        // If the key cannot be cloned (some private windows), fail the transaction.
        store.transaction.abort();
      }
    };
    return read;
  });
  return result!;
}

/** Runs one transaction on one store; resolves on commit. */
async function run(
  timeoutMs: number,
  storeName: string,
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  const opening = open();
  let transaction: IDBTransaction | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late(timeoutMs)), timeoutMs);
  });
  try {
    const database = await Promise.race([opening, timeout]);
    transaction = database.transaction(storeName, mode);
    const request = act(transaction.objectStore(storeName));
    await Promise.race([committed(transaction, request), timeout]);
    return request.result;
  } catch (cause) {
    if (!(cause instanceof LatchkeyError)) throw unavailable(cause);
    abort(transaction);
    throw cause;
  } finally {
    clearTimeout(timer);
    // A database that opens after the timeout is closed, too.
    opening.then(
      (database) => database.close(),
      () => undefined,
    );
  }
}

function abort(transaction: IDBTransaction | undefined): void {
  try {
    transaction?.abort();
  } catch {
    // It has just been committed.
  }
}

function committed(transaction: IDBTransaction, request: IDBRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = transaction.onerror = () => reject(transaction.error ?? request.error);
  });
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    // Throws if access is denied or IndexedDB is missing; the caller catches both.
    const request = indexedDB.open('latchkey', 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(applications);
      request.result.createObjectStore(deviceKeys, { keyPath: [...path] });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
