import { vi } from 'vitest';

export type Call = { publicKey: unknown; signal: AbortSignal; mediation?: string };
type Ceremony = (call: Call) => Promise<unknown>;

/** The browser's WebAuthn API with a passkey `passkey-1`; without `get` or `create`, requests stay open until aborted. */
export function stubAuthenticator(given: { get?: Ceremony; create?: Ceremony } & Record<string, unknown> = {}) {
  const { get = untilAborted, create = untilAborted, ...statics } = given;
  const requests: Call[] = [];
  const creations: Call[] = [];
  const signalUnknownCredential = vi.fn(async () => undefined);
  const signalAllAcceptedCredentials = vi.fn(async () => undefined);
  const api = {
    prototype: { toJSON: () => undefined },
    parseRequestOptionsFromJSON: (options: unknown) => ({ parsed: options }),
    parseCreationOptionsFromJSON: (options: unknown) => ({ parsed: options }),
    isConditionalMediationAvailable: async () => true,
    isUserVerifyingPlatformAuthenticatorAvailable: async () => true,
    signalUnknownCredential,
    signalAllAcceptedCredentials,
    ...statics,
  };
  vi.stubGlobal('PublicKeyCredential', api);
  const credentials = {
    get(call: Call) {
      requests.push(call);
      return get(call);
    },
    create(call: Call) {
      creations.push(call);
      return create(call);
    },
  };
  vi.stubGlobal('navigator', { onLine: true, credentials });
  return { requests, creations, signalUnknownCredential, signalAllAcceptedCredentials };
}

export const credentialJson = { id: 'passkey-1', type: 'public-key', response: { signature: 'c2ln' } };
/** The user chooses the passkey. */
export const chosen: Ceremony = async () => ({ toJSON: () => credentialJson });
/** The browser fails with a DOMException of this name. */
export const fails =
  (name: string): Ceremony =>
  async () => {
    throw new DOMException('detail', name);
  };

export function untilAborted({ signal }: Call): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(new DOMException('aborted', 'AbortError'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  });
}
