import { describe, expect, it } from 'vitest';
import type { Project } from '../projects/project.entity.ts';
import { canSignIn, type SignInMeans } from './sign-in-methods.ts';

const project = {
  ...{ mfaPolicy: 'optional', emailFactor: true, passkeys: true, passkeyPolicy: 'allowed', builtIn: null },
} as Project;
const device = { devices: [{ id: 'd' }] };
const key = (userVerified: boolean) => ({ passkeys: [{ id: 'k', userVerified }] });
const factor = (method: 'totp' | 'email', besidePasskey = false) => ({ factors: [{ id: 'f', method, besidePasskey }] });
const required = { mfaPolicy: 'required' } as const;
const passkeyRequired = { passkeyPolicy: 'required' } as const;

describe('a user without a mailbox', () => {
  it.each<[string, boolean, Partial<SignInMeans>, Partial<Project>]>([
    ['nothing', false, {}, {}],
    ['a device', true, device, {}],
    ['a factor alone', false, factor('totp'), {}],
    ['a device and an app', true, { ...device, ...factor('totp') }, {}],
    ['a device and codes by mail, which do not arrive', false, { ...device, ...factor('email') }, {}],
    ['a passkey', true, key(true), {}],
    ['a security key without PIN', true, key(false), {}],
    ['a security key without PIN, and an app without a device', false, { ...key(false), ...factor('totp') }, {}],
    ['a device, where factors are required', false, device, required],
    ['a device and an app, where factors are required', true, { ...device, ...factor('totp') }, required],
    ['a passkey, where factors are required', true, key(true), required],
    ['a security key without PIN, where factors are required', false, key(false), required],
    ['a device, where passkeys are required', false, device, passkeyRequired],
    ['a device and an app, where passkeys are required', true, { ...device, ...factor('totp') }, passkeyRequired],
    ['a passkey, where passkeys are required', true, key(true), passkeyRequired],
  ])('has %s: %s', (_, expected, means, policy) => {
    const of = { devices: [], passkeys: [], factors: [], ...means };
    expect(canSignIn({ ...project, ...policy }, of)).toBe(expected);
  });
});
