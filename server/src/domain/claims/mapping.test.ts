import { describe, expect, it } from 'vitest';
import { Refusal } from '../kernel/problem.ts';
import { attributeNames } from './attributes.ts';
import { type ClaimSettingsChange, changedSettings, defaultClaimSettings } from './claim-settings.ts';
import type { MappingInput } from './mapping.ts';

function faultOf(change: ClaimSettingsChange): string | null {
  try {
    changedSettings(defaultClaimSettings, change);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal) || error.problem.code !== 'invalid') throw error;
    return `${error.problem.field} ${error.problem.reason}`;
  }
}
const mapped = (mapping: object) => faultOf({ mappings: [mapping as MappingInput] });
const named = (claim: unknown) => mapped({ claim, constant: 1 });

describe('a claim name', () => {
  it.each([
    ...['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti', 'azp', 'nonce', 'acr', 'amr', 'auth_time', 'sid', 'at_hash'],
    ...['c_hash', 's_hash', 'cnf', 'act', 'may_act', 'scope', 'client_id', 'email', 'email_verified', 'phone_number'],
    ...['phone_number_verified', 'phone', 'events', 'name', 'preferred_username', 'address', 'updated_at', 'active'],
    ...['SUB', 'Email', 'token_type', 'authorization_details'],
  ])('cannot be %s: it is reserved', (claim) => {
    expect(named(claim)).toMatch(/^mappings\[0\]\.claim is reserved/);
  });

  it.each(['__proto__', '_claim_names', '_claim_sources', '_sd', '', ' a', 'a b', 'a"b', 'ä', '$ref', 1, null])(
    'cannot be %j: its characters are not allowed',
    (claim) => {
      expect(named(claim)).toMatch(/^mappings\[0\]\.claim must begin/);
    },
  );

  it.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf'])('cannot be %s, which every object has', (claim) => {
    expect(named(claim)).toMatch(/^mappings\[0\]\.claim must not be a name/);
  });

  it.each(['groups', 'roles', 'policy', 'https://example.com/claims/a#b', 'urn:x:y', 'a.b-c_d', 'a'.repeat(128)])(
    'can be %s',
    (claim) => {
      expect(named(claim)).toBeNull();
    },
  );

  it('has at most 128 characters, and is mapped once', () => {
    expect(named('a'.repeat(129))).toMatch('mappings[0].claim must have at most 128 characters');
    const twice = [
      { claim: 'a', constant: 1 },
      { claim: 'a', constant: 2 },
    ];
    expect(faultOf({ mappings: twice })).toBe('mappings[1].claim is mapped twice');
  });
});

describe('a mapping', () => {
  it('has exactly one source', () => {
    const fault = 'mappings[0] must have exactly one of attribute, constant, template and list';
    expect(mapped({ claim: 'a' })).toBe(fault);
    expect(mapped({ claim: 'a', constant: null, attribute: null })).toBe(fault);
    expect(mapped({ claim: 'a', constant: 1, attribute: 'title' })).toBe(fault);
    expect(mapped({ claim: 'a', constant: 0, template: 'x' })).toBe(fault);
  });

  it('names a known attribute', () => {
    for (const attribute of attributeNames) expect(mapped({ claim: 'a', attribute })).toBeNull();
    for (const attribute of ['', 'password', '__proto__', 'constructor', 'attributes', 'name', 'emails.value']) {
      expect(mapped({ claim: 'a', attribute })).toMatch(
        /^mappings\[0\]\.attribute must be custom\.NAME or one of id, userName/,
      );
    }
  });

  it('has a template of known attributes', () => {
    expect(mapped({ claim: 'a', template: 'x-${userName}-${email}' })).toBeNull();
    expect(mapped({ claim: 'a', template: '${__proto__}' })).toBe(
      'mappings[0].template names an unknown attribute: __proto__',
    );
    expect(mapped({ claim: 'a', template: '${1 + 1}' })).toBe('mappings[0].template names an unknown attribute: 1 + 1');
    expect(mapped({ claim: 'a', template: '${}' })).toBe('mappings[0].template names an unknown attribute: (empty)');
    expect(mapped({ claim: 'a', template: '${userName' })).toBe(
      'mappings[0].template has a placeholder without its closing brace',
    );
    expect(mapped({ claim: 'a', template: '${${userName}}' })).toBe(
      'mappings[0].template has a placeholder without its closing brace',
    );
    expect(mapped({ claim: 'a', template: ' ' })).toBe('mappings[0].template must not be blank');
    expect(mapped({ claim: 'a', template: 'x'.repeat(257) })).toBe(
      'mappings[0].template must have at most 256 characters',
    );
  });

  it('has a constant of plain values', () => {
    for (const constant of [{ a: 1 }, [1], [['a']], Number.NaN]) {
      expect(mapped({ claim: 'a', constant })).toMatch(/^mappings\[0\]\.constant must be text/);
    }
    expect(mapped({ claim: 'a', constant: 'x'.repeat(1022) })).toBeNull();
    expect(mapped({ claim: 'a', constant: 'x'.repeat(1023) })).toBe(
      'mappings[0].constant must have at most 1024 bytes',
    );
  });

  it('filters a known list, for a known scope', () => {
    expect(mapped({ claim: 'a', list: { of: 'x509Certificates' } })).toMatch(
      'mappings[0].list.of must be one of groups',
    );
    expect(mapped({ claim: 'a', list: { of: 'groups', prefix: 'x'.repeat(101) } })).toMatch('mappings[0].list.prefix');
    expect(mapped({ claim: 'a', constant: 1, scope: 'offline_access' })).toMatch(
      'mappings[0].scope must be one of openid',
    );
  });
});

describe('claim settings', () => {
  it('have at most 30 mappings', () => {
    const mappings = Array.from({ length: 31 }, (_, index) => ({ claim: `c${index}`, constant: 1 }));
    expect(faultOf({ mappings })).toBe('mappings must have at most 30 entries');
    expect(faultOf({ mappings: mappings.slice(1) })).toBeNull();
  });

  it('are limited to valid values; a refusal names the setting', () => {
    expect(faultOf({ groups: 'prefix' })).toBe('groupPrefix is required to select groups by prefix');
    expect(faultOf({ groups: 'none' as 'all' })).toBe('groups must be one of all, assigned, prefix');
    expect(faultOf({ listLimit: 0 })).toBe('listLimit must be from 1 to 1000');
    expect(faultOf({ listLimit: 1001 })).toBe('listLimit must be from 1 to 1000');
    expect(faultOf({ rolesClaim: 'sub' })).toBe('rolesClaim is reserved: sub');
    expect(faultOf({ rolesClaim: 'groups' })).toBe('rolesClaim must not be groups');
  });
});
