import { describe, expect, it } from 'vitest';
import type { Client } from '../clients/client.entity.ts';
import { type Grant, type GrantRow, idTokenClaims } from './mint.ts';
import { grantedScope } from './scope.ts';

const project = { idTokenTtlSeconds: 60 };
const grant: Grant = {
  client: { id: 'client', idTokenTtlSeconds: null, project: { getEntity: () => project } } as unknown as Client,
  row: {
    ...{
      organization_id: null,
      user_id: 'id',
      sub: 'user',
      session_id: null,
      scope: 'openid email phone',
      auth_time: new Date(1000),
      amr: ['swk'],
      acr: null,
    },
    ...{ email: 'ada@example.com', phone: '+4915112345678', home_id: null },
  },
  ...{ codeId: 'code', nonce: null, jkt: null },
};
const claimsOf = (row: Partial<GrantRow> = {}, some: Partial<Grant> = {}) =>
  idTokenClaims({ ...grant, ...some, row: { ...grant.row, ...row } }, 'token', 10);

describe('the claims of an ID token', () => {
  it('have address and number by their scopes, and only if the user has them', () => {
    const email = { email: 'ada@example.com', email_verified: true };
    const phone = { phone_number: '+4915112345678', phone: '+4915112345678' };
    expect(claimsOf()).toMatchObject({ ...email, ...phone });
    expect(claimsOf({ email: null, phone: null })).toEqual({
      ...{ sub: 'user', aud: 'client', iat: 10, nbf: 10, exp: 70, jti: 'token', auth_time: 1, amr: ['swk'] },
      acr: 'urn:service:pwdless:v1',
    });
    expect(claimsOf({ scope: 'openid email' })).not.toHaveProperty('phone_number');
    expect(claimsOf({ scope: 'openid phone' })).not.toHaveProperty('email');
  });

  it('have session, nonce, acr and key if there are any', () => {
    expect(claimsOf({ session_id: 'session', acr: 'phr' }, { nonce: 'n', jkt: 'key' })).toMatchObject({
      sid: 'session',
      nonce: 'n',
      acr: 'phr',
      cnf: { jkt: 'key' },
    });
    for (const name of ['sid', 'nonce', 'cnf']) expect(claimsOf()).not.toHaveProperty(name);
  });
});

describe('the granted scope', () => {
  it('has the known values of the requested one, each once', () => {
    expect(grantedScope('openid email openid unknown', ['email', 'openid', 'phone'])).toBe('openid email');
  });
});
