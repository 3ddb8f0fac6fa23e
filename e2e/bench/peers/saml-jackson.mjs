/** @boxyhq/saml-jackson's directory sync on PostgreSQL, behind node:http, since it has no server. */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import jackson from '@boxyhq/saml-jackson';
import pg from 'pg';
import { fill, userAt } from './fill.mjs';

const port = Number(process.env.PORT);
// It logs a missing webhook on each request.
for (const level of ['log', 'info', 'warn', 'error']) {
  const write = console[level];
  console[level] = (line, ...more) => String(line).startsWith('Webhook not configured') || write(line, ...more);
}

// Its ORM parses the URL and keeps the socket path encoded.
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

const population = Number(process.env.POPULATION);
if (population > 0) await populate();

async function populate() {
  await handle('POST', '/Users', {}, userAt(0));
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
  const table = (name, where) => pool.query(`select * from ${name} where ${where}`).then(({ rows }) => rows);
  const [store] = await table('jackson_store', `namespace like 'dsync:users:%' order by "createdAt" desc limit 1`);
  const ofDirectory = `${store.namespace}:directoryId:${hash(directory.id)}`;
  const user = JSON.parse(store.value);
  const first = { jackson_store: store, jackson_index: { key: '', storeKey: '' } };
  await fill(pool, first, population, (at) => {
    const id = randomUUID();
    const body = userAt(at);
    const { familyName } = body.name;
    const value = { ...user, id, email: body.userName, last_name: familyName, raw: { ...body, id } };
    const storeKey = `${store.namespace}:${hash(id)}`;
    const byName = `${store.namespace}:directoryIdUsername:${hash(`${directory.id}:${body.userName}`)}`;
    return {
      jackson_store: [{ key: storeKey, value: JSON.stringify(value) }],
      jackson_index: [
        { key: byName, storeKey },
        { key: ofDirectory, storeKey },
      ],
    };
  });
  await pool.end();
}

/** As saml-jackson hashes. */
function hash(text) {
  return createHash('ripemd160').update(text).digest('hex');
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
