/** An import writes only into the projects that its header names, and computes what follows from the values of users. */

import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { rows } from '../../test/rows.ts';
import { shell, testMasterKey } from '../../test/shell.ts';
import { system } from '../domain/kernel/actor.ts';
import { execute, sql } from '../domain/kernel/sql.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { atProject } from '../domain/users/identity/home.ts';
import { FileFacts, faultOf } from './transfer-checks.ts';

type Data = Record<string, unknown>;
interface Line extends Data {
  type?: string;
  data?: Data;
}

/** A public key on P-256. */
const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
const point = { x: Buffer.from(jwk.x ?? '', 'base64url'), y: Buffer.from(jwk.y ?? '', 'base64url') };

let here: TestApp;
let there: TestApp;
let folder: string;
let file: string;
let whole: Line[];
/** The exported project, and another one of the instance that imports it. */
let project: Project;
let other: Project;

const settings = (app: TestApp) => ({ DATABASE_URL: app.databaseUrl, MASTER_KEY: testMasterKey, BASE_URL: here.url });
const imported = (...args: string[]) => shell(settings(there), 'import', file, '--without-secrets', ...args);
const own = () => ['--overwrite', project.id];
const users = () => rows<Data>(there.services.db, 'select * from users order by id');
const stateOf = async () => {
  const tables = [
    'projects',
    'clients',
    'users',
    'user_emails',
    'custom_values',
    'custom_schemas',
    'groups',
    'audit_log',
  ];
  return Promise.all(tables.map((table) => rows(there.services.db, `select * from ${table} order by 1, 2, 3`)));
};

const customAttribute = { name: 'badge', type: 'string', uniqueness: 'server' } as const;

beforeAll(async () => {
  [here, there] = await Promise.all([buildTestApp(), buildTestApp()]);
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
  file = join(folder, 'a.jsonl');
  project = await here.make.project({ name: 'Moving' });
  await here.make.client(project);
  await here.services.customAttributes.create(project.id, customAttribute, system);
  const schema = await here.services.customAttributes.current(project.id);
  for (const name of ['ada', 'bob']) {
    const { projects: _, ...values } = {
      ...{ projects: [], userName: name, externalId: `x-${name}`, displayName: `The ${name}`, active: true },
      ...{ givenName: null, familyName: null },
      attributes: {
        title: 'a\nb',
        emails: [{ value: `${name}@Example.com`, type: 'work', primary: true }, { value: `${name}@home.example` }],
        phoneNumbers: [{ value: `+4179123456${name.length + (name.charCodeAt(0) % 2)}`, type: 'mobile' }],
        'urn:ietf:params:scim:schemas:extension:latchkey:2.0:User': { badge: `B-${name}` },
      },
    };
    await here.services.db.transaction((em) =>
      here.services.users.create(em, atProject(project.id), values, 'scim', system, { schema }),
    );
  }
  await shell(settings(here), 'export', '--to', file, '--project', project.id, '--without-secrets');
  whole = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
  other = await there.make.project({ name: 'Other' });
  await there.make.user(other);
});
afterAll(async () => {
  await Promise.all([here.close(), there.close()]);
  rmSync(folder, { recursive: true });
});

/** Writes the file with a correct checksum. */
function write(lines: readonly Line[]): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const end = {
    type: 'end',
    records: lines.length - 1,
    checksum: createHash('sha256').update(text).digest('base64url'),
  };
  writeFileSync(file, `${text}${JSON.stringify(end)}\n`);
}

/** The export with another header, or with other data of its first record of a type. */
const withHeader = (change: Data) => [{ ...whole[0], ...change }, ...whole.slice(1)];
function changed(type: string, change: Data, lines: readonly Line[] = whole): Line[] {
  const at = lines.findIndex((line) => line.type === type);
  return lines.with(at, { type, data: { ...lines[at]?.data, ...change } });
}
const recordOf = (type: string): Data => whole.find((line) => line.type === type)?.data as Data;

async function refused(lines: readonly Line[], message: string, ...args: string[]): Promise<void> {
  write(lines);
  const before = await stateOf();
  const { code, err } = await imported(...args);
  expect([code, err]).toEqual([expect.any(Number), expect.stringContaining(message)]);
  expect(code).not.toBe(0);
  expect(await stateOf()).toEqual(before);
}

describe('import', () => {
  it('refuses records of a project that the header does not name', async () => {
    const theirs = await rows<Data>(
      there.services.db,
      `select to_jsonb(t) as data from projects t where id = '${other.id}'`,
    );
    const { built_in: _, ...stolen } = (theirs[0] as Data)['data'] as Data;
    const records = [
      { type: 'project', data: { ...stolen, sign_up: 'open' } },
      { type: 'client', data: { ...recordOf('client'), project_id: other.id } },
      { type: 'user', data: { ...recordOf('user'), project_id: other.id } },
      { type: 'group', data: { id: other.id, project_id: other.id, display_name: 'Staff' } },
    ];
    for (const record of records) await refused([...whole, record], 'the header does not name');
    await refused([...whole, ...records], `the header does not name: ${other.id}`);
  });

  it('overwrites only projects that the operator names, regardless of the header', async () => {
    const theirs = await rows<Data>(
      there.services.db,
      `select to_jsonb(t) as data from projects t where id = '${other.id}'`,
    );
    const { built_in: _, ...stolen } = (theirs[0] as Data)['data'] as Data;
    const both = [
      ...withHeader({ projects: [project.id, other.id] }),
      { type: 'project', data: { ...stolen, name: 'Stolen' } },
    ];
    const names = `"Other" (${other.id}). To overwrite them, add --overwrite ${other.id}.`;
    await refused(both, names);
    await refused(both, names, ...own());
    await refused(both, 'names a project that the file does not contain', '--overwrite', 'x');
    await refused(withHeader({ projects: [project.id, other.id] }), 'that it does not contain');
    for (const projects of [['x'], [7], 'x', [[project.id]]]) {
      await refused(withHeader({ projects }), 'incomplete header');
    }
    write(both);
    const dry = await imported('--dry-run');
    expect([dry.code, dry.err]).toEqual([0, expect.stringContaining(`Overwrites "Other" (${other.id}).`)]);
    const { code, err } = await imported('--overwrite', `${other.id},${project.id}`);
    expect([code, err]).toEqual([0, expect.stringContaining(`Overwrites "Other" (${other.id}).`)]);
  });

  it('computes keys, login addresses and indexes from the values of users, regardless of those in the file', async () => {
    const forged = {
      email: 'eve@example.com',
      email_key: 'eve@example.com',
      user_name_key: 'eve',
      phone: '+41790000000',
      sign_in_hour: '2020-01-01',
    };
    const lines = changed('user', forged)
      .filter(({ type }) => type !== 'custom-value')
      .map((line) =>
        line.type === 'user-email' ? { ...line, data: { ...line.data, value_key: 'eve@example.com' } } : line,
      );
    write(lines);
    expect(await imported(...own())).toMatchObject({ code: 0 });
    const columns = `user_name_key, email, email_key, phone`;
    const of = (app: TestApp, table: string, what: string) =>
      rows(app.services.db, `select ${what} from ${table} where project_id = '${project.id}' order by 1, 2`);
    for (const [table, what] of [
      ['users', columns],
      ['user_emails', 'value_key, user_id'],
      ['custom_values', 'key, attribute, user_id, is_unique'],
    ] as const) {
      const [kept, wanted] = [await of(there, table, what), await of(here, table, what)];
      expect(kept).toEqual(wanted);
      expect(kept).not.toEqual([]);
    }
    const again = await imported(...own());
    expect(again.out).not.toMatch(/ [1-9]\d* (added|changed)/);
  });

  it('removes addresses and custom values that the file no longer has', async () => {
    write(changed('user', { attributes: { emails: [{ value: 'new@example.com' }] } }));
    expect(await imported(...own())).toMatchObject({ code: 0 });
    const { id } = recordOf('user');
    const left = (table: string, column: string) =>
      rows(there.services.db, `select ${column} as key from ${table} where user_id = '${id}'`);
    expect(await left('user_emails', 'value_key')).toEqual([{ key: 'new@example.com' }]);
    expect(await left('custom_values', 'key')).toEqual([]);
    write(whole);
    expect(await imported(...own())).toMatchObject({ code: 0 });
  });

  const custom = 'urn:ietf:params:scim:schemas:extension:latchkey:2.0:User';
  const shortened = <Case extends readonly unknown[]>(cases: Case[]) =>
    cases.map((one) => [JSON.stringify(one[one.length - 2]).slice(0, 80), ...one] as const);
  it.each(
    shortened<[Data, string]>([
      [{ attributes: { emails: [null, 1] } }, 'emails must be an object'],
      [
        { attributes: { emails: [{ value: 'not an address', primary: true }] } },
        'emails.value must be an email address',
      ],
      [
        { attributes: { emails: [{ value: 'a@b.example\r\nBcc: eve@example.com', primary: true }] } },
        'must be an email',
      ],
      [{ attributes: { emails: [{ value: 7 }] } }, 'emails.value must be a string'],
      [{ attributes: { phoneNumbers: { value: {} } } }, 'phoneNumbers.value must be a string'],
      [{ attributes: { title: 'x'.repeat(10_000) } }, 'title must not be longer'],
      [{ attributes: { photos: Array.from({ length: 501 }, (_, n) => ({ value: `${n}` })) } }, 'more than 500 values'],
      [
        { attributes: { photos: Array.from({ length: 9 }, (_, n) => ({ value: `${n}`.repeat(40_000) })) } },
        'The user is too large',
      ],
      [{ attributes: [] }, 'attributes must be an object'],
      [{ attributes: { birthdate: 'yesterday' } }, 'birthdate must be'],
      [{ attributes: { birthdate: 7 } }, 'birthdate must be'],
      [{ attributes: { [custom]: [] } }, 'must be an object'],
      [{ attributes: { [custom]: { badge: 7 } } }, 'badge must be'],
      [{ attributes: { [custom]: { admin: true } } }, 'admin is not an attribute'],
      [{ attributes: { [custom]: { badge: 'B-bob' } } }, 'has the value of another user of this instance: '],
      [{ user_name: 'ada\r\nSubject: x' }, 'userName must not contain control characters'],
      [{ user_name: ' ' }, 'userName must not be blank'],
      [{ user_name: 'x'.repeat(10_000) }, 'userName must not be longer'],
      [{ user_name: 7 }, 'userName must be a string'],
      [{ display_name: 'a\u0000b' }, 'displayName must not contain NUL'],
      [{ provenance: 'local', display_name: 'Ada\r\nBcc: eve@example.com' }, 'displayName must be one line'],
      [{ provenance: 'local', given_name: 'A\u202eda' }, 'givenName must not contain bidirectional'],
      [{ provenance: 'admin' }, 'provenance must be'],
      [{ active: 'yes' }, 'active must be true or false'],
      [{ external_id: 7 }, 'externalId must be a string'],
    ]),
  )('refuses a user with %s, and writes nothing', async (_title, change, message) => {
    await refused(changed('user', change), message, ...own());
  });

  it.each(
    shortened<[string, Data, string]>([
      ['group', { display_name: 'a\nb', provenance: 'local' }, 'displayName must not contain control characters'],
      ['group', { display_name: ' ' }, 'displayName must be text'],
      ['group', { display_name: 'x'.repeat(1000) }, 'displayName must be text'],
      ['custom-domain', { host: 'localhost' }, 'host '],
      ['custom-domain', { host: 'ID.example.com' }, 'host must be in lower case'],
    ]),
  )('refuses %s of a %s, and writes nothing', async (_title, type, change, message) => {
    const id = '0197e5a0-0000-7000-8000-00000000aaaa';
    const base = { id, project_id: project.id, created_at: '2026-11-01T00:00:00Z', challenge: 'x' };
    await refused([...whole, { type, data: { ...base, ...change } }], message, ...own());
  });

  it.each<[string, Data, string]>([
    ['a key that registration refuses', { public_key: 'pQECAyYg' }, 'publicKey must be a COSE key'],
    ['no key', { public_key: null }, 'publicKey must be a COSE key'],
    ['an algorithm that its key does not have', { cose_alg: -8 }, 'publicKey must be a COSE key'],
    ['an id that no authenticator chooses', { credential_id: 'a b' }, 'credentialId must be base64url'],
  ])('refuses a passkey with %s, and writes nothing', async (_title, change, message) => {
    const key = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      point.x,
      Buffer.from('225820', 'hex'),
      point.y,
    ]);
    const data = {
      ...{ id: '0197e5a0-0000-7000-8000-00000000bbbb', project_id: project.id, user_id: recordOf('user')['id'] },
      ...{ kind: 'passkey', name: 'Key', credential_id: 'AAAA', public_key: key.toString('base64url'), cose_alg: -7 },
    };
    const written = faultOf({ type: 'device', line: 1, data }, there.services, there.clock.now(), new FileFacts());
    expect(written).toBeNull();
    await refused([...whole, { type: 'device', data: { ...data, ...change } }], message, ...own());
  });

  it('refuses a grant with scopes that its API does not have, and writes nothing', async () => {
    const [apiId, created_at] = ['0197e5a0-0000-7000-8000-00000000cccc', '2026-11-01T00:00:00Z'];
    const api = {
      type: 'api',
      data: {
        ...{ id: apiId, project_id: project.id, identifier: 'https://api.example.com', name: 'API', created_at },
        ...{ updated_at: created_at, scopes: [{ key: 'read', description: 'Read' }], access_token_ttl_seconds: 600 },
      },
    };
    const grant = (scopes: unknown) => ({
      type: 'api-grant',
      data: {
        ...{ project_id: project.id, api_id: apiId, client_id: recordOf('client')['id'], scopes, introspects: false },
        ...{ created_at, updated_at: created_at },
      },
    });
    await refused([...whole, api, grant(['read', 'admin'])], 'scopes must contain only scopes of the API', ...own());
    await refused([...whole, api, grant('read')], 'scopes must contain only scopes of the API', ...own());
  });

  it('writes nothing of a file that is refused at its last record', async () => {
    const last = {
      type: 'group-member',
      data: { group_id: other.id, user_id: recordOf('user')['id'], project_id: project.id },
    };
    await execute(there.services.db.alone, sql`delete from projects where id = ${project.id}`);
    await refused([...whole, last], 'belongs to a group that does not precede it');
    expect((await users()).some((user) => user['project_id'] === project.id)).toBe(false);
    await refused([...whole, recordTwice()], 'has the same record twice');
  });
  const recordTwice = () => ({ type: 'user', data: recordOf('user') });
});
