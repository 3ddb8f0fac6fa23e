import { describe, expect, it } from 'vitest';
import { applicationClaims, type ClaimSource, idTokenMembers, userInfoMembers } from './application-claims.ts';
import type { ClaimUser } from './attributes.ts';
import {
  type ClaimSettings,
  type ClaimSettingsChange,
  changedSettings,
  defaultClaimSettings,
} from './claim-settings.ts';

const ada: ClaimUser = {
  id: '01999999-0000-7000-8000-000000000001',
  organizationId: null,
  userName: 'ada',
  externalId: 'e-1',
  displayName: 'Ada Lovelace',
  givenName: 'Ada',
  familyName: 'Lovelace',
  email: 'ada@example.com',
  phone: '+41790000001',
  active: true,
  updatedAt: new Date('2026-03-01T12:00:00.900Z'),
  attributes: {
    title: 'Countess',
    locale: 'en-GB',
    birthdate: '1815-12-10',
    roles: [{ value: 'auditor' }, { display: 'no value' }, { value: 'auditor' }],
    entitlements: [{ value: 'printer' }],
    emails: [{ value: 'ada@example.com' }, { value: 'a@example.org' }],
    photos: [{ value: 'data:image/png;base64,AAAA' }],
    profileUrl: 'javascript:alert(1)',
    addresses: [{ locality: 'Bern' }, { primary: true, locality: 'London', country: 'GB' }],
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'R&D', manager: { value: 'm-1' } },
  },
};

const source: ClaimSource = {
  user: ada,
  custom: [],
  groups: [
    { name: 'staff', assigned: false },
    { name: 'app-admins', assigned: true },
    { name: 'Zürich', assigned: false },
    { name: 'staff', assigned: false },
  ],
  roles: ['viewer', 'editor'],
};

const settings = (change: ClaimSettingsChange): ClaimSettings => changedSettings(defaultClaimSettings, change);
const sent = (change: ClaimSettingsChange, scopes: string[] = ['openid'], from = source) =>
  userInfoMembers(applicationClaims(settings(change), scopes, from));

describe('the claims of scopes', () => {
  it('are those of the granted scopes only', () => {
    expect(sent({}, ['openid'])).toEqual({});
    expect(sent({}, ['openid', 'email', 'phone', 'address'])).toEqual({
      email: 'ada@example.com',
      email_verified: true,
      phone_number: '+41790000001',
      address: { locality: 'London', country: 'GB' },
    });
  });

  it('have preferred_username in profile, and profile and picture only as web URLs', () => {
    expect(sent({}, ['profile'])).toEqual({
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      preferred_username: 'ada',
      birthdate: '1815-12-10',
      locale: 'en-GB',
      updated_at: 1772366400,
    });
    const attributes = { profileUrl: 'https://ada.example.com', photos: [{ value: 'https://ada.example.com/a.png' }] };
    expect(sent({}, ['profile'], { ...source, user: { ...ada, attributes } })).toMatchObject({
      profile: 'https://ada.example.com',
      picture: 'https://ada.example.com/a.png',
    });
  });

  it('sort groups and roles, without duplicates, and send empty lists', () => {
    expect(sent({}, ['groups', 'roles'])).toEqual({
      groups: ['Zürich', 'app-admins', 'staff'],
      roles: ['editor', 'viewer'],
    });
    const reversed = { ...source, groups: source.groups.toReversed(), roles: source.roles.toReversed() };
    expect(sent({}, ['groups', 'roles'], reversed)).toEqual(sent({}, ['groups', 'roles']));
    expect(sent({}, ['groups', 'roles'], { ...source, groups: [], roles: [] })).toEqual({ groups: [], roles: [] });
  });

  it('select groups of the application, or by prefix', () => {
    expect(sent({ groups: 'assigned' }, ['groups'])).toEqual({ groups: ['app-admins'] });
    expect(sent({ groups: 'prefix', groupPrefix: 'app-' }, ['groups'])).toEqual({ groups: ['app-admins'] });
    expect(sent({ groups: 'prefix', groupPrefix: 'none' }, ['groups'])).toEqual({ groups: [] });
  });

  it('name the roles claim as configured, with roles of the directory if wanted', () => {
    expect(sent({ rolesClaim: 'policy' }, ['roles'])).toEqual({ policy: ['editor', 'viewer'] });
    expect(sent({ directoryRoles: true }, ['roles'])).toEqual({ roles: ['auditor', 'editor', 'viewer'] });
  });
});

describe('mapped claims', () => {
  it('come from attributes, constants, templates and lists', () => {
    const mappings = [
      { claim: 'department', attribute: 'enterprise.department' },
      { claim: 'manager', attribute: 'enterprise.manager' },
      { claim: 'city', attribute: 'address.locality' },
      { claim: 'tier', constant: 'gold' },
      { claim: 'level', constant: 0 },
      { claim: 'is_staff', constant: false },
      { claim: 'allowed', constant: ['a', 'b'] },
      { claim: 'login', template: '${userName}@corp (${name.givenName})' },
      { claim: 'policy', list: { of: 'groups' as const, prefix: 'app-', removePrefix: true } },
      { claim: 'https://example.com/entitlements', list: { of: 'entitlements' as const } },
      { claim: 'all_emails', list: { of: 'emails' as const } },
    ];
    expect(sent({ mappings })).toEqual({
      department: 'R&D',
      manager: 'm-1',
      city: 'London',
      tier: 'gold',
      level: 0,
      is_staff: false,
      allowed: ['a', 'b'],
      login: 'ada@corp (Ada)',
      policy: ['admins'],
      'https://example.com/entitlements': ['printer'],
      all_emails: ['a@example.org', 'ada@example.com'],
    });
  });

  it('need their scope, and replace the claim of a scope', () => {
    const mappings = [
      { claim: 'groups', list: { of: 'groups' as const, prefix: 'staff' } },
      { claim: 'city', scope: 'address', attribute: 'address.locality' },
    ];
    expect(sent({ mappings })).toEqual({ groups: ['staff'] });
    expect(sent({ mappings }, ['groups'])).toEqual({ groups: ['staff'] });
    expect(sent({ mappings }, ['address'])).toMatchObject({ city: 'London' });
  });

  it('do not expand a template in a value', () => {
    const user = { ...ada, displayName: '${email} $& ${' };
    const mappings = [{ claim: 'label', template: '<${displayName}>' }];
    expect(sent({ mappings }, [], { ...source, user })).toEqual({ label: '<${email} $& ${>' });
  });

  it('are omitted without a value, and if the value is too long', () => {
    const user = { ...ada, externalId: null, attributes: { title: 'x'.repeat(1025), nickName: '  ' } };
    const mappings = [
      { claim: 'external', attribute: 'externalId' },
      { claim: 'external_label', template: 'id ${externalId}' },
      { claim: 'nick', attribute: 'nickName' },
      { claim: 'title', attribute: 'title' },
      { claim: 'short', constant: 'x' },
    ];
    const set = applicationClaims(settings({ mappings }), [], { ...source, user });
    expect(set.claims.map(({ name }) => name)).toEqual(['short']);
    expect(set.omitted.map(({ name, reason }) => [name, reason])).toEqual([
      ['external', 'no-value'],
      ['external_label', 'no-value'],
      ['nick', 'no-value'],
      ['title', 'too-long'],
    ]);
  });

  it('read only own properties of stored values', () => {
    const attributes = JSON.parse('{"__proto__": {"title": "inherited"}, "roles": [{"__proto__": {"value": "x"}}]}');
    const user = { ...ada, attributes };
    const mappings = [
      { claim: 'title', attribute: 'title' },
      { claim: 'directory', list: { of: 'directory-roles' as const } },
    ];
    expect(sent({ mappings }, [], { ...source, user })).toEqual({ directory: [] });
  });
});

describe('an ID token', () => {
  const many = {
    ...source,
    groups: Array.from({ length: 201 }, (_, index) => ({ name: `g${index}`, assigned: false })),
  };
  const endpoint = 'https://id.example.com/p/acme/userinfo';
  const token = (change: ClaimSettingsChange, from: ClaimSource) =>
    idTokenMembers(applicationClaims(settings(change), ['groups', 'roles'], from), settings(change), endpoint);

  it('refers to UserInfo for a list beyond the limit, and UserInfo has all of it', () => {
    expect(token({}, many)).toEqual({
      roles: ['editor', 'viewer'],
      _claim_names: { groups: 'userinfo' },
      _claim_sources: { userinfo: { endpoint } },
    });
    expect(sent({}, ['groups'], many)['groups']).toHaveLength(201);
    expect(token({ listLimit: 201 }, many)['groups']).toHaveLength(201);
    expect(token({ listLimit: 1 }, source)).toEqual({
      _claim_names: { groups: 'userinfo', roles: 'userinfo' },
      _claim_sources: { userinfo: { endpoint } },
    });
  });

  it('refers to UserInfo for the claims beyond 8 KB', () => {
    const long = {
      ...source,
      groups: Array.from({ length: 10 }, (_, index) => ({ name: `${index}`.repeat(900), assigned: false })),
    };
    expect(token({}, long)).toEqual({
      roles: ['editor', 'viewer'],
      _claim_names: { groups: 'userinfo' },
      _claim_sources: { userinfo: { endpoint } },
    });
    const mappings = Array.from({ length: 12 }, (_, index) => ({ claim: `c${index}`, constant: 'x'.repeat(1000) }));
    const { _claim_names: names } = token({ mappings }, source);
    expect(Object.keys(names as object)).toEqual(['c8', 'c9', 'c10', 'c11']);
  });
});
