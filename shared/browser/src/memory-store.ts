import type { DeviceKey, DeviceStore, KeyOwner } from './device-key.ts';

const nameOf = ({ issuer, clientId, userid }: KeyOwner) => JSON.stringify([issuer, clientId, userid]);

/** Device keys in memory, until the page is closed or reloaded. */
export function memoryStore(): DeviceStore {
  const keys = new Map<string, DeviceKey>();
  return {
    findApplication: async () => undefined,
    saveApplication: async () => undefined,
    findKey: async (owner) => keys.get(nameOf(owner)),
    listKeys: async () => [...keys.values()],
    addKey: async (key) => {
      const existing = keys.get(nameOf(key));
      if (!existing) keys.set(nameOf(key), key);
      return existing ?? key;
    },
    changeKey: async (owner, change) => {
      const existing = keys.get(nameOf(owner));
      if (existing) keys.set(nameOf(owner), { ...existing, ...change });
      return existing !== undefined;
    },
    removeKey: async (key) => {
      if (keys.get(nameOf(key))?.kid === key.kid) keys.delete(nameOf(key));
    },
  };
}
