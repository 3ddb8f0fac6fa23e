import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { acsUrl, spEntityId } from '../../test/saml-sp.ts';
import { spMetadata } from '../domain/saml/messages/metadata.ts';

let app: TestApp;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

const { xml } = spMetadata({ entityId: spEntityId, acsUrls: [acsUrl], wantsAssertionsSigned: true }, []);

async function at(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    return await app.services.serviceProviderMetadata.at(`http://127.0.0.1:${port}/metadata`);
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
}

it('the metadata of an application is read at its address', async () => {
  expect(await at((_req, res) => void res.end(xml))).toMatchObject({ entityId: spEntityId, acsUrls: [acsUrl] });
});

it.each<[string, RequestListener]>([
  ['another document', (_req, res) => void res.end('<a/>')],
  ['a DTD', (_req, res) => void res.end(`<!DOCTYPE a>${xml}`)],
  ['600 KB', (_req, res) => void res.end(xml + ' '.repeat(600 * 1024))],
  ['a redirect', (_req, res) => void res.writeHead(302, { location: 'http://169.254.169.254/' }).end()],
  ['an error', (_req, res) => void res.writeHead(500).end()],
])('metadata with %s is refused', async (_, listener) => {
  await expect(at(listener)).rejects.toMatchObject({ problem: { code: 'invalid', field: 'metadataUrl' } });
});
