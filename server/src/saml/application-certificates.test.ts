/** Metadata of SAML applications that is read daily, and warnings about their certificates (decisions/0421). */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { rows } from '../../test/rows.ts';
import { rsaKey } from '../../test/saml.ts';
import { acsUrl, ServiceProvider, spEntityId } from '../../test/saml-sp.ts';
import { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { spMetadata } from '../domain/saml/messages/metadata.ts';
import { pemOf, selfSigned } from '../domain/saml/security/certificate.ts';

const [former, next] = [rsaKey(), rsaKey()];
const pemsOf = (...keys: { certificate: Uint8Array }[]) => keys.map(({ certificate }) => pemOf(certificate).trim());
let app: TestApp;
let project: Project;
let client: Client;
let server: Server;
let url: string;
/** Of the application, at its address. */
let document: { status?: number; xml: string };
let reads: number;

const metadataOf = (keys: { certificate: Uint8Array }[], entityId = spEntityId) => ({
  xml: spMetadata(
    { entityId, acsUrls: [acsUrl, 'https://evil.example.com/acs'], wantsAssertionsSigned: true },
    keys.map(({ certificate }) => certificate),
  ).xml,
});

beforeAll(async () => {
  app = await buildTestApp();
  server = createServer((req, res) => {
    // Not the applications of earlier tests.
    if (url.endsWith(String(req.url).split('?')[0] ?? '')) reads += 1;
    res.writeHead(document.status ?? 200, { Location: 'http://127.0.0.1:1/' }).end(document.xml);
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
});
afterAll(async () => {
  server.close();
  await app.close();
});
beforeEach(async () => {
  reads = 0;
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${randomUUID()}`;
  document = metadataOf([next]);
  project = await app.make.project();
  ({ client } = await ServiceProvider.at(app, project, { samlMetadataUrl: url }, former));
});

const update = (settings: Parameters<typeof app.services.clients.update>[1]) =>
  app.services.clients.update(keyIn(project.id, client.id), settings, system);
const current = async () => {
  const found = await app.services.db.reader().findOneOrFail(Client, { project: project.id, id: client.id });
  const { redirectUris, samlEncryptionCertificate, samlMetadataFault } = found;
  const samlCertificates = found.samlCertificates.map((pem) => pem.trim());
  return { redirectUris, samlCertificates, samlEncryptionCertificate, samlMetadataFault };
};
const events = (type: string) =>
  rows<{ detail: Record<string, unknown> }>(
    app.services.db,
    'select detail from audit_log where project_id = ? and type = ? order by id',
    [project.id, type],
  );
const refresh = () => app.services.applicationCertificates.refreshDue();

describe('the daily reading of the metadata of an application', () => {
  it('takes new certificates, and nothing else, with an event', async () => {
    await refresh();
    const { redirectUris, samlCertificates, samlEncryptionCertificate, samlMetadataFault } = await current();
    expect(samlCertificates).toEqual(pemsOf(next));
    expect([redirectUris, samlEncryptionCertificate ?? null, samlMetadataFault]).toEqual([[acsUrl], null, null]);
    expect((await events('client.updated')).map(({ detail }) => Object.keys(Object(detail['after'])))).toEqual([
      ['samlCertificates'],
    ]);
  });

  it('takes a new key for encryption where assertions are encrypted', async () => {
    await update({ samlEncryptionCertificate: pemOf(former.certificate) });
    await refresh();
    expect((await current()).samlEncryptionCertificate?.trim()).toBe(pemOf(next.certificate).trim());
  });

  it('happens once a day, and at once after another address', async () => {
    for (const _ of [1, 2]) await refresh();
    expect(reads).toBe(1);
    app.clock.turn(24 * 3600);
    await refresh();
    expect(reads).toBe(2);
    await update({ samlMetadataUrl: `${url}?2` });
    await refresh();
    expect(reads).toBe(3);
  });

  it('does not happen for a disabled application', async () => {
    await update({ disabled: true });
    await refresh();
    expect(reads).toBe(0);
  });

  const expired = () => {
    const dates = { from: new Date('2020-01-01T00:00:00Z'), until: new Date('2021-01-01T00:00:00Z') };
    return { certificate: selfSigned(next.pkcs8, { name: 'old', serial: Buffer.from([1]), ...dates }) };
  };
  it.each<[string, string, () => { status?: number; xml: string }]>([
    ['names another application', 'entity-id', () => metadataOf([next], 'https://other.example.com')],
    ['has no certificate', 'certificates', () => metadataOf([])],
    ['has only expired certificates', 'certificates', () => metadataOf([expired()])],
    ['has too many certificates', 'invalid', () => metadataOf([1, 2, 3, 4, 5, 6].map(() => rsaKey()))],
    ['is no metadata', 'invalid', () => ({ xml: '<p>Sign in</p>' })],
    ['has a DTD', 'invalid', () => ({ xml: `<!DOCTYPE a>${document.xml}` })],
    ['is missing', 'unreachable', () => ({ status: 404, xml: '' })],
    ['redirects', 'unreachable', () => ({ status: 302, xml: '' })],
    ['is 1 MB', 'unreachable', () => ({ xml: ' '.repeat(1_000_000) })],
  ])('changes no certificate if the document %s, and says so once', async (_name, fault, of) => {
    document = of();
    await refresh();
    app.clock.turn(24 * 3600);
    await refresh();
    expect(await current()).toMatchObject({ samlCertificates: pemsOf(former), samlMetadataFault: fault });
    expect(await events('client.metadata_refused')).toEqual([{ detail: { fault } }]);
    document = metadataOf([next]);
    app.clock.turn(24 * 3600);
    await refresh();
    expect(await current()).toMatchObject({ samlCertificates: pemsOf(next), samlMetadataFault: null });
  });
});

describe('the end of the last certificate', () => {
  const ending = (days: number) => {
    const until = new Date(app.clock.now().getTime() + days * 86_400_000);
    const from = new Date('2026-01-01T00:00:00Z');
    return pemOf(selfSigned(former.pkcs8, { name: 'sp', serial: Buffer.from([2]), from, until }));
  };
  const warned = async () => {
    await app.services.applicationCertificates.warnDue();
    return (await events('client.certificate_expiring')).map(({ detail }) => detail['days']);
  };

  it('is announced 30, 7 and 1 days before, once each', async () => {
    await update({ samlCertificates: [ending(31)], samlMetadataUrl: null });
    expect(await warned()).toEqual([]);
    app.clock.turn(2 * 86_400);
    for (const _ of [1, 2]) expect(await warned()).toEqual([30]);
    app.clock.turn(23 * 86_400);
    expect(await warned()).toEqual([30, 7]);
    app.clock.turn(5.5 * 86_400);
    expect(await warned()).toEqual([30, 7, 1]);
    app.clock.turn(86_400);
    expect(await warned()).toEqual([30, 7, 1]);
  });

  it('is not announced if another certificate lasts longer, and again after a change', async () => {
    await update({ samlCertificates: [ending(3), ending(300)], samlMetadataUrl: null });
    expect(await warned()).toEqual([]);
    await update({ samlCertificates: [ending(3)] });
    expect(await warned()).toEqual([7]);
    await update({ samlCertificates: [ending(4)] });
    expect(await warned()).toEqual([7, 7]);
  });
});
