import type { Application, DeviceKey, DeviceStore, KeyOwner } from '../src/device-key.ts';

/** In-memory device store; `clear` simulates clearing site data. */
export function memoryStore(): DeviceStore & { clear(): void; keys(): DeviceKey[] } {
  const applications = new Map<string, Application>();
  const keys = new Map<string, DeviceKey>();
  const id = ({ issuer, clientId, userid }: KeyOwner) => JSON.stringify([issuer, clientId, userid]);
  return {
    findApplication: async (credential) => applications.get(credential),
    saveApplication: async (credential, application) => void applications.set(credential, application),
    findKey: async (owner) => structuredClone(keys.get(id(owner))),
    listKeys: async (application) =>
      [...keys.values()].filter(
        (key) => !application || (key.issuer === application.issuer && key.clientId === application.clientId),
      ),
    addKey: async (key) => {
      if (!keys.has(id(key))) keys.set(id(key), structuredClone(key));
      return structuredClone(keys.get(id(key))!);
    },
    changeKey: async (owner, change) => {
      const key = keys.get(id(owner));
      if (key) keys.set(id(owner), { ...key, ...change });
      return key !== undefined;
    },
    removeKey: async (key) => {
      if (keys.get(id(key))?.kid === key.kid) keys.delete(id(key));
    },
    clear: () => keys.clear(),
    keys: () => [...keys.values()],
  };
}
