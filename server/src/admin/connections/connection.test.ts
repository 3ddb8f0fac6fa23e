import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { rsaKey } from '../../../test/saml.ts';
import { everything } from '../../domain/admins/permission.ts';
import { system } from '../../domain/kernel/actor.ts';
import { query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { idpMetadata } from '../../domain/saml/messages/metadata.ts';
import { pemOf, selfSigned } from '../../domain/saml/security/certificate.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;

beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
});
afterAll(() => harness.close());
beforeEach(async () => {
  project = await make.project({ name: 'Acme' });
});

const shown = `id kind preset name state jit refreshesProfile mappings hasSecret identities
  oidc { issuer clientId scopes hostedDomain } callback { redirectUri } failures { reason count }`;
const create = (input: object) =>
  harness.call(
    `mutation ($input: CreateConnectionInput!) { createConnection(input: $input) { connection { ${shown} } callback { redirectUri } } }`,
    { input: { projectId: project.id, kind: 'OIDC', name: 'Acme IdP', ...input } },
  );
const oidc = { issuer: 'https://idp.example.com', clientId: 'latchkey', clientSecret: 'do not show' };
const update = (input: object) =>
  harness.call(`mutation ($input: UpdateConnectionInput!) { updateConnection(input: $input) { ${shown} } }`, { input });

it('a connection is created as a draft, shown without its secret, changed, enabled and deleted', async () => {
  const { data, errors } = await create({ oidc });
  expect(errors).toEqual([]);
  const { connection, callback } = data.createConnection;
  expect(connection).toMatchObject({
    ...{
      kind: 'OIDC',
      preset: 'generic',
      name: 'Acme IdP',
      state: 'DRAFT',
      jit: false,
      hasSecret: true,
      identities: 0,
    },
    oidc: { issuer: oidc.issuer, clientId: 'latchkey', scopes: ['openid', 'email', 'profile'], hostedDomain: null },
    mappings: { givenName: 'given_name', familyName: 'family_name', displayName: 'name', locale: 'locale' },
    failures: [],
  });
  expect(callback.redirectUri).toMatch(new RegExp(`/connect/${connection.id}/callback$`));
  const changed = await update({
    id: connection.id,
    jit: true,
    oidc: { clientId: 'other' },
    mappings: { displayName: 'n' },
  });
  expect(changed.data.updateConnection).toMatchObject({
    ...{ jit: true, hasSecret: true, mappings: { displayName: 'n' } },
    oidc: { issuer: oidc.issuer, clientId: 'other' },
  });
  const state = (to: string) =>
    harness.call(`mutation { setConnectionState(input: { id: "${connection.id}", state: ${to} }) { state } }`);
  expect((await state('ENABLED')).data.setConnectionState).toEqual({ state: 'ENABLED' });
  expect((await state('TESTED')).errors[0].extensions).toMatchObject({ code: 'invalid', field: 'state' });
  const list = await harness.call(
    `{ connections(projectId: "${project.id}") { id state } connection(id: "${connection.id}") { name } }`,
  );
  expect(list.data).toEqual({
    connections: [{ id: connection.id, state: 'ENABLED' }],
    connection: { name: 'Acme IdP' },
  });
  expect(JSON.stringify([data, changed, list])).not.toContain('do not show');
  const removed = await harness.call(`mutation { deleteConnection(id: "${connection.id}") }`);
  expect(removed.data).toEqual({ deleteConnection: connection.id });
  expect((await harness.call(`{ connection(id: "${connection.id}") { id } }`)).code).toBe('not-found');
});

it.each([
  ['oidc.issuer', { oidc: { ...oidc, issuer: 'idp.example.com' } }],
  ['oidc.issuer', { oidc: { ...oidc, issuer: 'https://idp.example.com/?x=1' } }],
  ['oidc.issuer', { oidc: { ...oidc, issuer: 'https://user:pass@idp.example.com' } }],
  ['oidc.clientId', { oidc: { ...oidc, clientId: '' } }],
  ['oidc.clientSecret', { oidc: { ...oidc, clientSecret: 'two\nlines' } }],
  ['oidc.scopes', { oidc: { ...oidc, scopes: ['email'] } }],
  ['oidc.scopes[1]', { oidc: { ...oidc, scopes: ['openid', 'two words'] } }],
  ['oidc.hostedDomain', { oidc: { ...oidc, hostedDomain: 'example.com' } }],
  ['preset', { oidc, preset: 'constructor' }],
  ['name', { oidc, name: ' ' }],
  ['mappings.picture', { oidc, mappings: { picture: 'picture' } }],
  ['mappings.locale', { oidc, mappings: { locale: 7 } }],
])('refuses a wrong %s', async (field, input) => {
  expect((await create(input)).errors[0].extensions).toMatchObject({ code: 'invalid', field });
});

it('a draft without the values of the provider can neither be tested nor enabled, until they are given', async () => {
  const { connection } = (await create({ preset: 'keycloak' })).data.createConnection;
  const { id } = connection;
  expect(connection.oidc).toMatchObject({ issuer: '', clientId: '' });
  const test = () => harness.call(`mutation { testConnection(id: "${id}") { url } }`);
  const enable = () =>
    harness.call(`mutation { setConnectionState(input: { id: "${id}", state: ENABLED }) { state } }`);
  const refused = async (field: string) => {
    for (const answer of [await test(), await enable()]) {
      expect(answer.errors[0].extensions).toMatchObject({ code: 'invalid', field });
    }
  };
  await refused('oidc.issuer');
  expect((await update({ id, oidc: { issuer: 'https://sso.example.com/realms/staff' } })).errors).toEqual([]);
  await refused('oidc.clientId');
  for (const [field, value] of Object.entries({ issuer: '', clientId: '' })) {
    const cleared = await update({ id, oidc: { [field]: value } });
    expect(cleared.errors[0].extensions).toMatchObject({ code: 'invalid', field: `oidc.${field}` });
  }
  expect((await update({ id, oidc: { clientId: 'latchkey' } })).errors).toEqual([]);
  expect((await test()).data.testConnection.url).toContain(`/connect/${id}/test?`);
  expect((await enable()).data.setConnectionState).toEqual({ state: 'ENABLED' });
});

it('requires the client secret again for another issuer: an admin who does not know it cannot redirect it', async () => {
  const { id } = (await create({ oidc })).data.createConnection.connection;
  const issuer = 'https://attacker.example.com';
  const moved = await update({ id, oidc: { issuer } });
  expect(moved.errors[0].extensions).toMatchObject({ code: 'invalid', field: 'oidc.clientSecret' });
  const read = `{ connection(id: "${id}") { oidc { issuer } } }`;
  expect((await harness.call(read)).data.connection.oidc).toEqual({ issuer: oidc.issuer });
  expect((await update({ id, oidc: { issuer: oidc.issuer } })).errors).toEqual([]);
  expect((await update({ id, oidc: { issuer, clientSecret: 'theirs' } })).errors).toEqual([]);
  expect((await harness.call(read)).data.connection.oidc).toEqual({ issuer });
});

it('a SAML connection is shown with the addresses for its provider and its certificates', async () => {
  const saml = `saml { metadataUrl metadataFault entityId ssoUrl signed nameId emailAttribute vouchesForEmail allowsSha1 allowsCbc
    certificates { fingerprint expiresAt pem } } oidc { issuer } callback { redirectUri acsUrl entityId metadataUrl }`;
  const created = await create({ kind: 'SAML' });
  const { id } = created.data.createConnection.connection;
  const entityId = 'https://idp.example.com/saml';
  const metadataXml = idpMetadata({ entityId, ssoUrl: `${entityId}/sso`, sloUrl: null }, [rsaKey().certificate]).xml;
  const changed = await harness.call(
    `mutation ($input: UpdateConnectionInput!) { updateConnection(input: $input) { ${saml} } }`,
    { input: { id, saml: { metadataXml, signed: 'ASSERTION', nameId: 'ANY', vouchesForEmail: true } } },
  );
  expect(changed.errors).toEqual([]);
  expect(changed.data.updateConnection).toMatchObject({
    oidc: null,
    saml: {
      ...{ metadataUrl: null, metadataFault: null, entityId, ssoUrl: `${entityId}/sso`, signed: 'ASSERTION' },
      ...{ nameId: 'ANY', emailAttribute: null, vouchesForEmail: true, allowsSha1: false, allowsCbc: false },
      certificates: [{ fingerprint: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/) }],
    },
    callback: {
      redirectUri: null,
      acsUrl: expect.stringMatching(new RegExp(`/connect/${id}/acs$`)),
      entityId: expect.stringMatching(new RegExp(`/connect/${id}/metadata$`)),
    },
  });
  const other = await update({ id, oidc: { clientId: 'x' } });
  expect(other.errors[0].extensions).toMatchObject({ code: 'invalid', field: 'oidc' });
});

it.each([
  ['okta', 'SAML', 'Single sign-on URL', 'acsUrl', 'saml.metadataUrl'],
  ['adfs', 'SAML', 'Relying party trust identifiers', 'entityId', 'saml.metadataUrl'],
  ['generic', 'SAML', 'AssertionConsumerService', 'acsUrl', 'saml.metadataUrl'],
  ['entra', 'OIDC', 'Authentication, Web, Redirect URIs', 'redirectUri', 'oidc.clientId'],
  ['adfs', 'OIDC', 'redirect_uri', 'redirectUri', 'oidc.clientId'],
])(
  'the guide of %s for %s has its labels with the values of the connection',
  async (preset, kind, label, field, input) => {
    const { id } = (await create({ kind, preset })).data.createConnection.connection;
    const read = `{ connection(id: "${id}") { callback { redirectUri acsUrl entityId }
    guide { place enter { label value } copy { label value } } } }`;
    const { callback, guide } = (await harness.call(read)).data.connection;
    expect(guide.enter).toContainEqual({ label, value: callback[field] });
    expect(guide.copy.map(({ value }: { value: string }) => value)).toContain(input);
  },
);

it('a provider without SAML has no SAML connection', async () => {
  const refused = await create({ kind: 'SAML', preset: 'gitlab' });
  expect(refused.errors[0].extensions).toMatchObject({ code: 'invalid', field: 'preset' });
});

it('admins are warned 30, 7 and 1 days before the last certificate expires, once, and again for another one', async () => {
  const { admins, certificateWarnings, connections, db } = harness.services;
  const by = { grants: everything, actor: system };
  await admins.grantRole({ email: 'warned@example.com', role: 'project_admin', projectId: project.id }, by);
  const day = 24 * 3600;
  const key = rsaKey();
  const from = harness.clock.now();
  const lasting = (days: number) => {
    const until = new Date(from.getTime() + days * day * 1000);
    return pemOf(selfSigned(key.pkcs8, { name: 'x', serial: randomBytes(16), from, until }));
  };
  const entityId = 'https://idp.example.com/saml';
  const metadataXml = idpMetadata({ entityId, ssoUrl: `${entityId}/sso`, sloUrl: null }, []).xml;
  const saml = { metadataXml, certificates: [lasting(10), lasting(45)] };
  const of = { projectId: project.id, kind: 'saml', preset: 'generic', name: 'Staff' } as const;
  const connection = await connections.create({ ...of, saml }, system);
  const warned = async (afterDays: number) => {
    harness.clock.turn(afterDays * day);
    await Promise.all([certificateWarnings.send(), certificateWarnings.send()]);
    return (await connections.get(db.reader(), connection)).warnedDays ?? null;
  };
  // The later one counts.
  expect([await warned(0), await warned(16), await warned(10)]).toEqual([null, 30, 30]);
  expect([await warned(12), await warned(6), await warned(3)]).toEqual([7, 1, 1]);
  const events = sql`select from audit_log where project_id = ${project.id} and type = 'connection.certificate_expiring'`;
  expect(await query(db.alone, events)).toHaveLength(3);
  const mails = sql`select from messages where recipient = 'warned@example.com' and template = 'certificate-expiring'`;
  expect(await query(db.alone, mails)).toHaveLength(3);
  const renewed = await connections.update(connection, { saml: { certificates: [lasting(400)] } }, system);
  expect(renewed.warnedDays).toBeNull();
});
