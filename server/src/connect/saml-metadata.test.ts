import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { rsaKey } from '../../test/saml.ts';
import { SamlConnectWorld } from '../../test/saml-connect-world.ts';
import { settingsOf } from '../domain/connections/connection.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { pemOf, selfSigned } from '../domain/saml/security/certificate.ts';

const saml = SamlConnectWorld.ofTests();
const { own, world } = saml;
const services = () => world.app.services;
const day = 24 * 3600;
const refresh = () => services().metadataRefresh.runDue();
const settings = async () => settingsOf(await saml.stored(), 'saml');
const answering = (body: string) => (_req: unknown, res: ServerResponse) => void res.end(body);
const invalid = (field: string) => ({ problem: { code: 'invalid', field } });

it('metadata is read daily, once for all processes, and brings new certificates', async () => {
  const { key } = saml.provider;
  const before = saml.provider.reads;
  await refresh();
  expect(saml.provider.reads).toBe(before);
  saml.provider.key = rsaKey();
  world.app.clock.turn(day);
  await Promise.all([refresh(), refresh(), refresh()]);
  expect(saml.provider.reads).toBe(before + 1);
  expect((await settings()).certificates).toEqual([pemOf(saml.provider.key.certificate)]);
  await saml.signIn();
  saml.provider.lies = { key };
  expect((await saml.through(await own.browser())).searchParams.get('connect')).toBe('failed');
  expect(await world.events()).toContain('connection.metadata_refreshed');
});

it.each<[string, string, () => (req: unknown, res: ServerResponse) => void]>([
  ['another entityID', 'entity-id', () => answering(saml.provider.metadata({ entityId: 'https://attacker.example' }))],
  ['no certificates', 'certificates', () => answering(saml.provider.metadata({ keys: [] }))],
  [
    'only expired certificates',
    'certificates',
    () => {
      const key = rsaKey();
      const from = new Date(world.app.clock.now().getTime() - 7200_000);
      const until = new Date(from.getTime() + 3600_000);
      const certificate = selfSigned(key.pkcs8, { name: 'x', serial: randomBytes(16), from, until });
      return answering(saml.provider.metadata({ keys: [{ ...key, certificate }] }));
    },
  ],
  ['an address inside', 'invalid', () => answering(saml.provider.metadata().replace(/http:[^"]*sso/, 'javascript:x'))],
  ['no metadata', 'invalid', () => answering('<html></html>')],
  ['a DTD', 'invalid', () => answering(`<!DOCTYPE x>${saml.provider.metadata()}`)],
  ['10,000 levels', 'invalid', () => answering('<a>'.repeat(10_000))],
  ['an error', 'unreachable', () => (_req, res) => void res.writeHead(500).end()],
  [
    'a redirect',
    'unreachable',
    () => (_req, res) => void res.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  ],
  [
    '100 MB',
    'unreachable',
    () => (_req, res) => {
      const chunk = Buffer.alloc(1 << 16, ' ');
      let left = 1600;
      const more = () => {
        while (!res.destroyed && left-- > 0 && res.write(chunk));
      };
      res.on('drain', more);
      more();
    },
  ],
])('metadata with %s changes nothing', async (_, fault, answer) => {
  const before = await settings();
  world.app.clock.turn(day);
  saml.provider.lies = { metadata: answer() };
  await refresh();
  expect([await settings(), (await saml.stored()).metadataFault]).toEqual([before, fault]);
  expect((await world.events()).filter((type) => type === 'connection.metadata_refused')).toHaveLength(1);
  await saml.signIn();
  saml.provider.lies = {};
  world.app.clock.turn(day);
  await refresh();
  expect((await saml.stored()).metadataFault).toBeNull();
});

it('an admin accepts another entityID, whose accounts are others', async () => {
  const first = await saml.signIn();
  const entityId = 'https://moved.example';
  saml.provider.lies = { metadata: answering(saml.provider.metadata({ entityId })) };
  const changed = { saml: { metadataUrl: saml.provider.metadataUrl } };
  await services().connections.update(saml.connection, changed, system);
  expect((await settings()).entityId).toBe(entityId);
  saml.newPerson();
  saml.provider.lies = { envelope: { issuer: entityId } };
  expect((await saml.signIn())['sub']).not.toBe(first['sub']);
});

it.each<[string, object]>([
  ['saml.metadataUrl', { metadataUrl: 'ftp://idp.example.com' }],
  ['saml.metadataUrl', { metadataUrl: 'http://10.0.0.1/metadata' }],
  ['saml.metadataXml', { metadataUrl: 'https://idp.example.com', metadataXml: '<x/>' }],
  ['saml.metadataXml', { metadataUrl: undefined, metadataXml: '<x/>' }],
  ['saml.certificates', { certificates: ['x'] }],
  ['saml.emailAttribute', { emailAttribute: 'a\nb' }],
])('refuses a wrong %s', async (field, input) => {
  await expect(saml.connect({}, input as never)).rejects.toMatchObject(invalid(field));
});

it.each<[string, RegExp, (req: unknown, res: ServerResponse) => void]>([
  ['cannot be read', /^cannot be read: ./, (_req, res) => void res.writeHead(500).end()],
  ['is of no provider', /^is no metadata of an identity provider: ./, answering('<html></html>')],
])('refuses metadata that %s, with the reason', async (_, reason, metadata) => {
  const { metadataUrl } = saml.provider;
  saml.provider.lies = { metadata };
  const before = await settings();
  const change = services().connections.update(saml.connection, { saml: { metadataUrl } }, system);
  const problem = { code: 'invalid', field: 'saml.metadataUrl', reason: expect.stringMatching(reason) };
  await expect(change).rejects.toMatchObject({ problem });
  expect(await settings()).toEqual(before);
});

it('a draft may wait for metadata: it can neither be tested nor enabled, and our addresses are known', async () => {
  const { connections, upstreamSignIns } = services();
  const of = { projectId: world.project.id, kind: 'saml', preset: 'generic', name: 'Draft' } as const;
  const draft = await connections.create(of, system);
  expect(connections.callback(draft).acsUrl).toContain(`/connect/${draft.id}/acs`);
  const missing = invalid('saml.metadataUrl');
  await expect(upstreamSignIns.prepareTest(draft)).rejects.toMatchObject(missing);
  await expect(connections.setState(draft, 'enabled', system)).rejects.toMatchObject(missing);
  await connections.update(draft, { saml: { metadataXml: saml.provider.metadata() } }, system);
  expect(await connections.setState(draft, 'enabled', system)).toMatchObject({ state: 'enabled' });
});

it('refuses settings of the other kind', async () => {
  const { connections } = services();
  const { metadataUrl } = saml.provider;
  await expect(connections.update(saml.connection, { oidc: { clientId: 'x' } }, system)).rejects.toMatchObject(
    invalid('oidc'),
  );
  await expect(connections.update(own.connection, { saml: { metadataUrl } }, system)).rejects.toMatchObject(
    invalid('saml'),
  );
  await expect(saml.connect({ kind: 'oidc' })).rejects.toMatchObject(invalid('saml'));
});

it('an input without changes leaves a tested connection tested', async () => {
  const { connections } = services();
  const draft = await connections.create(
    {
      ...{ projectId: world.project.id, kind: 'saml', preset: 'generic', name: 'Tested' },
      saml: { metadataUrl: saml.provider.metadataUrl },
    },
    system,
  );
  await connections.tested(draft, system);
  const same = { saml: { metadataUrl: saml.provider.metadataUrl } };
  expect(await connections.update(draft, same, system)).toMatchObject({ state: 'tested', version: 1 });
  expect(await connections.update(draft, { saml: { signed: 'both' } }, system)).toMatchObject({
    ...{ state: 'draft', version: 2 },
  });
});
