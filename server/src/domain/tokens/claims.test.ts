import { describe, expect, it } from 'vitest';
import { type Grant, grantedScope, idTokenClaims } from './claims.ts';

const grant: Grant = {
  projectId: 'project',
  codeId: 'code',
  clientId: 'client',
  userId: 'user',
  subject: 'user',
  sessionId: null,
  scope: 'openid email phone',
  nonce: null,
  authTimeSeconds: 1,
  amr: ['swk'],
  acr: null,
  email: 'ada@example.com',
  phone: '+4915112345678',
  jkt: null,
  idTokenTtlSeconds: 60,
  idTokenAlgorithm: 'ES512',
  accessTokenTtlSeconds: 60,
  api: null,
};
const claimsOf = (some: Partial<Grant> = {}) => idTokenClaims({ ...grant, ...some }, 'token', 10);

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
    const bound = { sessionId: 'session', nonce: 'n', acr: 'phr', jkt: 'key' };
    expect(claimsOf(bound)).toMatchObject({ sid: 'session', nonce: 'n', acr: 'phr', cnf: { jkt: 'key' } });
    for (const name of ['sid', 'nonce', 'cnf']) expect(claimsOf()).not.toHaveProperty(name);
  });
});

describe('the granted scope', () => {
  it('has the known values of the requested one, each once', () => {
    expect(grantedScope('openid email openid unknown', ['email', 'openid', 'phone'])).toBe('openid email');
  });
});
