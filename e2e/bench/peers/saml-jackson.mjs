/** @boxyhq/saml-jackson's directory sync on PostgreSQL, behind plain node:http: it brings no server of its own. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import jackson from '@boxyhq/saml-jackson';
import pg from 'pg';

const port = Number(process.env.PORT);
// It tells of each request that no webhook is set.
for (const level of ['log', 'info', 'warn', 'error']) {
  const write = console[level];
  console[level] = (line, ...more) => String(line).startsWith('Webhook not configured') || write(line, ...more);
}

// Its ORM takes the address apart and leaves a socket's folder encoded.
const { _connect: connectTo } = pg.Client.prototype;
pg.Client.prototype._connect = function (callback) {
  this.host = decodeURIComponent(this.host);
  return connectTo.call(this, callback);
};

const controllers = await jackson.default({
  externalUrl: `http://localhost:${port}`,
  samlAudience: 'https://saml.example.com',
  samlPath: '/api/oauth/saml',
  scimPath: '/api/scim/v2.0',
  db: { engine: 'sql', type: 'postgres', url: process.env.DATABASE_URL, pageLimit: 100 },
  idpEnabled: true,
  openid: {},
  noAnalytics: true,
});
const { directorySyncController: sync } = controllers;
const { data: directory } = await sync.directories.create({
  name: 'Directory',
  tenant: 'example.com',
  product: 'benchmark',
  type: 'generic-scim-v2',
});
const secret = directory.scim.secret;

async function handle(method, path, query, body) {
  const [, resourceType, resourceId] = path.split('/');
  return sync.requests.handle({
    method,
    body,
    directoryId: directory.id,
    resourceType: resourceType.toLowerCase(),
    resourceId,
    apiSecret: secret,
    query,
  });
}

for (let at = 0; at < Number(process.env.POPULATION); at += 1) {
  const userName = `user-${String(at).padStart(6, '0')}@example.com`;
  await handle(
    'POST',
    '/Users',
    {},
    {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName,
      externalId: `ext-${at}`,
      displayName: `User ${at}`,
      name: { givenName: 'User', familyName: `Number ${at}` },
      title: 'Engineer',
      locale: 'en-US',
      emails: [{ value: userName, type: 'work', primary: true }],
      active: true,
    },
  );
}

const server = createServer(async (req, res) => {
  const { pathname, searchParams } = new URL(req.url, 'http://localhost');
  const number = (name) => (searchParams.has(name) ? Number(searchParams.get(name)) : undefined);
  let text = '';
  for await (const chunk of req) text += chunk;
  const query = {
    count: number('count'),
    startIndex: number('startIndex'),
    filter: searchParams.get('filter') ?? undefined,
  };
  const authorized = req.headers.authorization === `Bearer ${secret}`;
  const { status, data } = authorized
    ? await handle(req.method, pathname.slice('/scim'.length), query, text === '' ? undefined : JSON.parse(text))
    : { status: 401, data: {} };
  const body = JSON.stringify(data ?? {});
  res.writeHead(status, { 'Content-Type': 'application/scim+json', 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
});
const { version } = JSON.parse(
  readFileSync(new URL('../node_modules/@boxyhq/saml-jackson/package.json', import.meta.url)),
);
server.listen(port, '127.0.0.1', () => {
  const scim = { path: '/scim', token: secret };
  process.stdout.write(`${JSON.stringify({ version, scim, cookies: [], clients: {} })}\n`);
});
