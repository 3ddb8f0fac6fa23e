import { describe, expect, it } from 'vitest';
import type { Passkey } from '../credentials/passkey.entity.ts';
import { descriptor, requestOptions } from './passkey-request.ts';

type Asking = Parameters<typeof requestOptions>[1];

function asking({ project = {}, client = {}, request = {}, stepUp = null as string | null } = {}): Asking {
  const caller = {
    project: { mfaPolicy: 'optional', passkeyPolicy: 'optional', passkeys: true, builtIn: null, ...project },
    client: { passkeyRequired: false, ...client },
    request: { issuer: null, personRequired: false, setupLinkId: null, ...request },
  };
  return { caller, ceremony: { stepUp } } as unknown as Asking;
}

const optionsOf = (of: Asking) => requestOptions({ issuer: 'https://id.example.com' }, of, 'challenge');

describe('the options of a sign-in by passkey', () => {
  it('name challenge and host, time out after five minutes, and accept any passkey', () => {
    expect(optionsOf(asking())).toEqual({
      challenge: 'challenge',
      rpId: 'id.example.com',
      timeout: 300_000,
      userVerification: 'preferred',
    });
  });

  it.each([
    ['the project requires a second factor', asking({ project: { mfaPolicy: 'required' } })],
    ['the project requires passkeys', asking({ project: { passkeyPolicy: 'required' } })],
    ['the project is that of the admins', asking({ project: { builtIn: 'console' } })],
    ['the application requires passkeys', asking({ client: { passkeyRequired: true } })],
    ['the request requires a proof by the person', asking({ request: { personRequired: true } })],
    ['it is for a step-up', asking({ stepUp: 'create_passkey' })],
  ])('demand PIN or biometrics if %s', (_why, of) => {
    expect(optionsOf(of).userVerification).toBe('required');
  });

  it('name the transports of a known passkey, if there are any', () => {
    const passkey = (transports: string[]) => ({ credentialId: 'id', transports }) as unknown as Passkey;
    expect(descriptor(passkey([]))).toEqual({ type: 'public-key', id: 'id' });
    expect(descriptor(passkey(['usb']))).toEqual({ type: 'public-key', id: 'id', transports: ['usb'] });
  });
});
