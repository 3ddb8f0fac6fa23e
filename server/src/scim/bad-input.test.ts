import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';

let app: ScimApp;
let project: ScimProject;
let userId: string;
beforeAll(async () => {
  app = await startScimApp();
  project = await app.project();
  userId = (await project.request('POST', '/Users', { userName: 'somebody' })).body.id;
});
afterAll(() => app.close());

const search = (filter: string) => project.request('POST', '/Users/.search', { filter });
const invalidFilter = { status: '400', scimType: 'invalidFilter' };

/** CPU time of this process in milliseconds. */
async function took(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

describe('malicious PATCH bodies', () => {
  let own: ScimProject;
  beforeAll(async () => {
    own = await app.project();
  });
  const many = 500;
  const roles = Array.from({ length: many }, (_, i) => ({ value: `r${i}` }));
  const harmful: Record<string, object[]> = {
    'thousands of operations on hundreds of values': Array.from({ length: 10_000 }, (_, i) => ({
      op: 'replace',
      path: `roles[value eq "r${i % many}"].display`,
      value: `d${i % 7}`,
    })),
    'filters of hundreds of comparisons on hundreds of values': Array.from({ length: 60 }, () => ({
      op: 'replace',
      path: `roles[${Array.from({ length: 450 }, (_, i) => `value co "z${i}"`).join(' or ')} or value pr].display`,
      value: 'q',
    })),
    'lists of values to remove from a list': Array.from({ length: 100 }, () => ({
      op: 'remove',
      path: 'roles',
      value: roles.map(({ value }) => ({ value: `${value}x` })),
    })),
  };

  it.each(Object.entries(harmful))('refuses %s quickly, and changes nothing', async (_, Operations) => {
    const { body } = await own.request('POST', '/Users', { userName: `u${crypto.randomUUID()}`, roles });
    const refused = own.request('PATCH', `/Users/${body.id}`, { Operations });
    const ms = await took(async () =>
      expect((await refused).body).toMatchObject({ status: '400', scimType: 'tooMany' }),
    );
    expect(ms).toBeLessThan(10_000);
    expect((await own.request('GET', `/Users/${body.id}`)).body.meta.version).toBe(body.meta.version);
  });

  it('applies a thousand operations to a hundred values', async () => {
    const few = roles.slice(0, 100);
    const { body } = await own.request('POST', '/Users', { userName: 'patched-often', roles: few });
    const Operations = Array.from({ length: 1000 }, (_, i) => ({
      op: 'replace',
      path: `roles[value eq "r${i % 100}"].display`,
      value: `d${i}`,
    }));
    const patched = await own.request('PATCH', `/Users/${body.id}`, { Operations });
    expect(patched.body.roles).toEqual(few.map((role, i) => ({ ...role, display: `d${900 + i}` })));
  });
});

describe('malicious filters', () => {
  it.each([
    ['20,000 parentheses', `${'('.repeat(20_000)}userName pr${')'.repeat(20_000)}`],
    ['20,000 open ones', '('.repeat(20_000)],
    ['60 in depth', `${'('.repeat(60)}userName pr${')'.repeat(60)}`],
    ['5,000 times not', `${'not('.repeat(5000)}userName pr${')'.repeat(5000)}`],
    ['2,000 comparisons', Array(2000).fill('userName eq "a"').join(' or ')],
    ['almost a megabyte', `userName eq "${'a'.repeat(1_000_000)}"`],
    ['a megabyte of quotes', '"'.repeat(500_000)],
    ['a megabyte of backslashes', `userName eq "${'\\'.repeat(400_000)}`],
    ['a megabyte of spaces', ' '.repeat(1_000_000)],
    ['30,000 brackets', 'emails['.repeat(4000)],
  ])('refuses %s immediately', async (_what, filter) => {
    const ms = await took(async () => expect((await search(filter)).body).toMatchObject(invalidFilter));
    expect(ms).toBeLessThan(2000);
  });

  it('handles 18 negated clauses, 45 nested ones and 400 comparisons in one filter', async () => {
    const clause = (i: number) => `not (title eq "${i}" or emails[type eq "${i}" and value co "x"])`;
    const filters = [
      Array.from({ length: 18 }, (_, i) => clause(i)).join(' and '),
      `${'not('.repeat(45)}userName eq "nobody"${')'.repeat(45)}`,
      Array.from({ length: 400 }, (_, i) => `userName eq "somebody${i || ''}"`).join(' or '),
    ];
    for (const filter of filters) {
      const ms = await took(async () => expect((await search(filter)).body).toMatchObject({ totalResults: 1 }));
      expect(ms).toBeLessThan(3000);
    }
  });

  it('returns 431 for a filter too long for a URL', async () => {
    const reply = await fetch(`${project.baseUrl}/Users?filter=${'x'.repeat(100_000)}`, {
      headers: { authorization: `Bearer ${project.token}` },
    });
    expect(reply.status).toBe(431);
  });
});

const hostile = [
  "' or '1'='1",
  "'; drop table users; --",
  '") or (userName pr',
  '\\',
  "\\'",
  '$1',
  '?',
  '??',
  '%',
  '_%_',
  '{{7*7}}',
  '__proto__',
  'constructor',
  'toString',
  '\u202eabc',
  '\ud83d\ude00'.repeat(40),
  '\ufeffx',
  '\u0001\u001f\u007f',
  'İıſK',
  'null',
  'true',
];

describe('malicious texts', () => {
  it('stores each unchanged, and finds it by filter', async () => {
    for (const [index, text] of hostile.entries()) {
      const userName = `${index}${text.replaceAll(/\p{Cc}/gu, '')}`;
      const made = await project.request('POST', '/Users', {
        userName,
        externalId: text,
        title: text,
        name: { familyName: text, middleName: text },
        roles: [{ value: text, type: text }],
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: text },
      });
      expect(made.status, text).toBe(201);
      const { id } = made.body;
      const literal = JSON.stringify(text);
      for (const filter of [
        `userName eq ${JSON.stringify(userName)}`,
        `externalId eq ${literal}`,
        `title eq ${literal} and name.familyName eq ${literal} and name.middleName sw ${literal}`,
        `roles[value eq ${literal} and type ew ${literal}]`,
        `urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department co ${literal}`,
      ]) {
        const found = (await search(`(${filter}) and id eq "${id}"`)).body;
        expect(found, `${filter}`).toMatchObject({ totalResults: 1, Resources: [{ title: text, externalId: text }] });
      }
      const patched = await project.request('PATCH', `/Users/${id}`, {
        Operations: [
          { op: 'replace', path: `roles[value eq ${literal}].display`, value: text },
          { op: 'add', path: 'nickName', value: text },
        ],
      });
      expect(patched.body, text).toMatchObject({ nickName: text, roles: [{ display: text }] });
      expect((await project.request('DELETE', `/Users/${id}`)).status).toBe(204);
    }
  });

  it('refuses a userName of several lines, since logs and mails show it', async () => {
    for (const userName of ['a\nb', 'a\tb', 'a\u001bb', 'a\u0085b', 'a\u2028b']) {
      const reply = await project.request('POST', '/Users', { userName });
      expect(reply.body, JSON.stringify(userName)).toMatchObject({ status: '400', scimType: 'invalidValue' });
    }
    const lines = { userName: 'lines', addresses: [{ formatted: '100 Universal City Plaza\r\nHollywood' }] };
    expect((await project.request('POST', '/Users', lines)).status).toBe(201);
  });

  it.each([
    ['a NUL', 'a\0b'],
    ['half a character', 'a\ud800b'],
  ])('refuses %s in every place as invalidValue', async (_what, text) => {
    const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    for (const body of [
      { userName: text },
      { userName: 'x', externalId: text },
      { userName: 'x', name: { givenName: text } },
      { userName: 'x', emails: [{ value: 'x@example.com', type: text }] },
      { userName: 'x', [enterprise]: { manager: text } },
    ]) {
      const reply = await project.request('POST', '/Users', body);
      expect(reply.body, JSON.stringify(body)).toMatchObject({ status: '400', scimType: 'invalidValue' });
    }
    const group = await project.request('POST', '/Groups', { displayName: text });
    expect(group.body).toMatchObject({ status: '400', scimType: 'invalidValue' });
    for (const operation of [
      { op: 'replace', path: 'title', value: text },
      { op: 'add', value: { nickName: text } },
      { op: 'add', path: 'emails[type eq "x"].display', value: text },
    ]) {
      const reply = await project.request('PATCH', `/Users/${userId}`, { Operations: [operation] });
      expect(reply.body, JSON.stringify(operation)).toMatchObject({ status: '400', scimType: 'invalidValue' });
    }
    expect((await project.request('POST', '/Groups', { displayName: 'g', members: [{ value: text }] })).status).toBe(
      400,
    );
    expect((await search(`title eq ${JSON.stringify(text)}`)).body).toMatchObject(invalidFilter);
    expect((await project.request('GET', `/Users/${encodeURIComponent('a\0b')}`)).status).toBe(404);
    const unknown = await project.request('POST', '/Users', { userName: 'y', [text]: text, whatever: text });
    expect(unknown.status).toBe(201);
    await project.request('DELETE', `/Users/${unknown.body.id}`);
  });

  it('refuses names and ids too long for an index', async () => {
    const long = 'x'.repeat(3000);
    for (const body of [
      { userName: long },
      { userName: 'x', externalId: long },
      { userName: 'x', displayName: long },
    ]) {
      expect((await project.request('POST', '/Users', body)).body).toMatchObject({ scimType: 'invalidValue' });
    }
    const widest = '\u{10ffff}'.repeat(128);
    const made = await project.request('POST', '/Users', {
      userName: widest,
      externalId: widest + widest,
      displayName: widest + widest,
    });
    expect(made.status).toBe(201);
    expect((await project.request('DELETE', `/Users/${made.body.id}`)).status).toBe(204);
  });
});

describe('malicious bodies', () => {
  it.each([
    ['depth 10,000', '{"userName":"a","x":'.concat('['.repeat(10_000), ']'.repeat(10_000), '}')],
    ['depth 500,000, unclosed', '['.repeat(500_000)],
    ['objects within objects', '{"a":'.repeat(50_000)],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['a surrogate as UTF-8', new Uint8Array([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
    ['a NUL', '\0'],
    ['a nested duplicate name', '{"userName":"a","name":{"givenName":"a","givenName":"b"}}'],
    ['a duplicate name, once escaped', '{"userName":"a","user\\u004eame":"b"}'],
    ['JavaScript', '{userName:"a"}'],
    ['a trailing comma', '{"userName":"a",}'],
    ['a number', '5'],
    ['null', 'null'],
    ['text', '"userName"'],
  ])('refuses %s as invalidSyntax', async (_what, raw) => {
    const ms = await took(async () => {
      const reply = await project.request('POST', '/Users', undefined, { raw });
      expect(reply.body).toMatchObject({ status: '400', scimType: 'invalidSyntax' });
    });
    expect(ms).toBeLessThan(2000);
  });

  it('accepts a byte order mark, and the same names in different objects', async () => {
    const raw =
      '\ufeff{"userName":"bom","name":{"formatted":"formatted"},"addresses":[{"formatted":"a"},{"formatted":"b"}]}';
    const reply = await project.request('POST', '/Users', undefined, { raw });
    expect(reply.status).toBe(201);
  });

  it('stops reading a body of 50 MB without delaying other requests', async () => {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    const answer = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.on('close', () => resolve(text));
      socket.on('error', () => resolve(text));
    });
    const head = `POST /v1/scim/${project.id}/Users HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${project.token}\r\n`;
    socket.write(`${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = `${(1 << 16).toString(16)}\r\n${'x'.repeat(1 << 16)}\r\n`;
    for (let i = 0; i < 800 && !socket.destroyed; i++) socket.write(chunk);
    expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
    expect((await project.request('GET', `/Users/${userId}`)).status).toBe(200);
  });

  it('survives a client that disconnects within its body', async () => {
    const { hostname, port } = new URL(app.url);
    const head = `POST /v1/scim/${project.id}/Users HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${project.token}\r\n`;
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve) =>
      socket.write(`${head}Content-Length: 1000\r\n\r\n{"userName":`, () => resolve()),
    );
    const records = app.services.requestRecords;
    socket.destroy();
    const latest = async () => {
      await records.settled();
      return (await records.recent(project.id, 1))[0];
    };
    const refused = { method: 'POST', status: 400, detail: expect.stringContaining('incomplete') };
    await expect.poll(latest).toMatchObject(refused);
    expect(app.bugs).toEqual([]);
  });

  it('adds 10,000 members in one request, removes them in another, and refuses a member of another project', async () => {
    const members = (await manyUsers(10_000)).map((value) => ({ value }));
    const made = await project.request('POST', '/Groups', { displayName: 'ten thousand', members });
    expect(made.status).toBe(201);
    expect(made.body.members).toHaveLength(10_000);
    const stranger = [...members.slice(1), { value: '01900000-0000-7000-8000-000000000000' }];
    const path = `/Groups/${made.body.id}`;
    expect((await project.request('PUT', path, { displayName: 'x', members: stranger })).status).toBe(400);
    const removal = { Operations: [{ op: 'remove', path: 'members', value: members.slice(1) }] };
    expect((await project.request('PATCH', path, removal)).body.members).toHaveLength(1);
    const users = await project.request('POST', '/Users', {
      userName: 'many',
      emails: Array.from({ length: 10_000 }, (_, n) => ({ value: `${n}@example.com` })),
    });
    expect(users.body).toMatchObject({ status: '400', scimType: 'invalidValue' });
  });
});

/** Creates users by SQL, to save time. */
async function manyUsers(count: number): Promise<string[]> {
  const rows = await app.services.db.reader().execute<{ id: string }[]>(
    `insert into users (id, project_id, user_name, user_name_key, created_at, updated_at)
     select gen_random_uuid(), ?, 'member-' || n, 'member-' || n, now(), now() from generate_series(1, ?) n returning id`,
    [project.id, count],
  );
  return rows.map(({ id }) => id);
}

it('reports no unexpected error', () => expect(app.bugs).toEqual([]));
