/** better-auth with its SCIM plugin on PostgreSQL: one connection with a bearer token. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { scim } from '@better-auth/scim';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import pg from 'pg';
import { fill, userAt } from './fill.mjs';

const port = Number(process.env.PORT);
const path = '/api/auth/scim/v2';
const issuer = `http://localhost:${port}`;
const token = randomBytes(32).toString('hex');
const connection = 'benchmark';
const database = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

const options = {
  baseURL: issuer,
  secret: randomBytes(32).toString('hex'),
  database,
  rateLimit: { enabled: false },
  logger: { level: 'error' },
  telemetry: { enabled: false },
  plugins: [scim({ connections: [{ id: connection, credentials: [{ type: 'bearer', id: 'one', token }] }] })],
};
const { runMigrations } = await getMigrations(options);
await runMigrations();
const auth = betterAuth(options);

const population = Number(process.env.POPULATION);
if (population > 0) await populate();

async function populate() {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' };
  const post = { method: 'POST', headers, body: JSON.stringify(userAt(0)) };
  const answer = await auth.handler(new Request(`${issuer}${path}/Users`, post));
  if (answer.status !== 201) throw new Error(`no user: ${answer.status} ${await answer.text()}`);
  const first = {};
  for (const name of ['user', 'scimUser', 'scimSubject']) {
    first[name] = (await database.query(`select * from "${name}" limit 1`)).rows[0];
  }
  const began = Date.now();
  await fill(database, first, population, (at) => {
    const [userId, scimId, subjectId] = [1, 2, 3].map(() => randomBytes(16).toString('hex'));
    const { schemas, userName, externalId, displayName, name, emails, title, locale } = userAt(at);
    const formatted = displayName;
    const email = `|${keyOf('scim-email-value', userName)}|`;
    const attributes = { schemas, name: { formatted, ...name }, emails, title, locale };
    return {
      user: [{ id: userId, name: displayName, email: userName }],
      scimUser: [
        {
          id: scimId,
          userId,
          connectionUserKey: keyOf('scim-user', connection, userId),
          userName,
          userNameKey: keyOf('scim-user-name', connection, userName),
          primaryEmail: userName,
          workEmailValueIndex: email,
          emailValueIndex: email,
          displayName,
          formattedName: formatted,
          familyName: name.familyName,
          serializedEmails: JSON.stringify(emails),
          serializedAttributes: JSON.stringify(attributes),
          externalId,
          externalIdKey: keyOf('scim-user-external-id', connection, externalId),
          orderKey: `${String(began + at).padStart(15, '0')}:${randomBytes(8).toString('hex')}`,
        },
      ],
      scimSubject: [{ id: subjectId, userId, profileSourceId: scimId }],
    };
  });
}

/** As better-auth creates its keys. */
function keyOf(...parts) {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

const { version } = JSON.parse(
  readFileSync(new URL('../node_modules/@better-auth/scim/package.json', import.meta.url)),
);
createServer(toNodeHandler(auth)).listen(port, '127.0.0.1', () => {
  const ready = { version, scim: { path, token }, cookies: [], clients: {} };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
});
