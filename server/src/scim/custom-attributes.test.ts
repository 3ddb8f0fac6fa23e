/** Custom attributes over SCIM (decisions/0127): values, characteristics of RFC 7643 §2.2 and §7, filters, concurrency. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { system } from '../domain/kernel/actor.ts';
import { type CustomAttributeInput, customUrn as urn } from '../domain/users/custom/definition.ts';

let app: ScimApp;
let project: ScimProject;
beforeAll(async () => {
  app = await startScimApp();
});
afterAll(async () => {
  expect(app.bugs).toEqual([]);
  await app.close();
});
beforeEach(async () => {
  project = await app.project();
});

const define = (input: CustomAttributeInput, id = project.id) =>
  app.services.customAttributes.create(id, input, system);
const string = (name: string, more: Partial<CustomAttributeInput> = {}) => define({ name, type: 'string', ...more });

let number = 0;
const create = (custom: unknown, more: object = {}, query = '') => {
  number += 1;
  return project.request('POST', `/Users${query}`, { userName: `user${number}`, [urn]: custom, ...more });
};
const created = async (custom: unknown, more: object = {}) => {
  const { status, body } = await create(custom, more);
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id as string;
};
const patch = (id: string, ...operations: object[]) =>
  project.request('PATCH', `/Users/${id}`, { Operations: operations });
const read = async (id: string, query = '') => (await project.request('GET', `/Users/${id}${query}`)).body[urn];
const found = async (filter: string, more = '') => {
  const { status, body } = await project.request('GET', `/Users?filter=${encodeURIComponent(filter)}${more}`);
  return status === 200 ? body.Resources.map(({ id }: { id: string }) => id) : body.scimType;
};

describe('values', () => {
  it('are stored by type, shown by definition, and belong to one project', async () => {
    await string('badge');
    await define({ name: 'floor', type: 'integer' });
    await define({ name: 'share', type: 'decimal' });
    await define({ name: 'remote', type: 'boolean' });
    await define({ name: 'hired', type: 'dateTime' });
    await define({ name: 'page', type: 'reference' });
    await string('skills', { multiValued: true });
    const parts = [
      { name: 'city', type: 'string' as const },
      { name: 'desk', type: 'integer' as const },
    ];
    await define({ name: 'office', type: 'complex', subAttributes: parts });
    await define({ name: 'offices', type: 'complex', multiValued: true, subAttributes: parts });
    const values = {
      ...{
        badge: 'B-7',
        floor: -3,
        share: 0.25,
        remote: false,
        hired: '2026-01-31T12:00:00.000Z',
        page: 'https://a.example',
      },
      ...{ skills: ['go', 'sql'], office: { city: 'Bern', desk: 4 } },
      offices: [{ city: 'Bern' }, { city: 'Basel', desk: 0 }],
    };
    const answer = await create(values);
    expect(answer).toMatchObject({ status: 201 });
    expect(answer.body[urn]).toEqual(values);
    expect(answer.body.schemas).toContain(urn);
    expect(await read(answer.body.id)).toEqual(values);
    // As Entra ID sends them.
    const sent = {
      floor: '12',
      share: '1.5',
      remote: 'True',
      hired: '2026-01-31T13:00:00+01:00',
      skills: 'go',
      badge: ' ',
    };
    const stored = { floor: 12, share: 1.5, remote: true, hired: '2026-01-31T12:00:00.000Z', skills: ['go'] };
    expect(await read(await created(sent))).toEqual(stored);
    const other = await app.project();
    const stranger = await other.request('POST', '/Users', { userName: 'eve', [urn]: values });
    expect(stranger.body.schemas).not.toContain(urn);
    expect(stranger.body[urn]).toBeUndefined();
    expect((await other.request('GET', `/Schemas/${urn}`)).status).toBe(404);
    for (const bad of [
      ...[{ floor: 1.5 }, { floor: 2 ** 60 }, { floor: 'x' }, { share: 'NaN' }, { remote: 'yes' }, { badge: 5 }],
      ...[
        { hired: '2026-02-30T00:00:00Z' },
        { hired: 'soon' },
        { page: 'a b' },
        { office: 'Bern' },
        { office: { desk: 'x' } },
      ],
      ...[{ skills: [{ a: 1 }] }, { badge: ['a', 'b'] }, { badge: 'a\u0000' }],
    ]) {
      const refused = await create(bad);
      expect([bad, refused.status, refused.body.scimType]).toEqual([bad, 400, 'invalidValue']);
    }
  });

  it('change by paths of Entra ID, by objects of Okta, and in Bulk', async () => {
    await string('badge');
    await define({ name: 'floor', type: 'integer' });
    await define({ name: 'skills', type: 'string', multiValued: true });
    const subAttributes = [
      { name: 'city', type: 'string' as const },
      { name: 'desk', type: 'integer' as const },
    ];
    await define({ name: 'offices', type: 'complex', multiValued: true, subAttributes });
    const id = await created({ badge: 'a' });
    expect((await patch(id, { op: 'Add', path: `${urn}:floor`, value: '3' })).body[urn]).toEqual({
      badge: 'a',
      floor: 3,
    });
    await patch(id, { op: 'replace', value: { [urn]: { badge: 'b' }, [`${urn}:floor`]: 4 } });
    expect(await read(id)).toEqual({ badge: 'b', floor: 4 });
    await patch(
      id,
      { op: 'add', path: `${urn}:skills`, value: ['go', 'sql'] },
      { op: 'add', path: `${urn}:skills`, value: 'c' },
    );
    await patch(id, { op: 'remove', path: `${urn}:skills[value eq "GO"]` });
    expect((await read(id)).skills).toEqual(['sql', 'c']);
    await patch(id, { op: 'remove', path: `${urn}:skills`, value: ['c'] });
    expect((await read(id)).skills).toEqual(['sql']);
    expect((await patch(id, { op: 'replace', path: `${urn}:skills[value eq "x"]`, value: 'y' })).body.scimType).toBe(
      'noTarget',
    );
    await patch(id, { op: 'replace', path: `${urn}:skills[value eq "sql"]`, value: 'SQL' });
    expect((await read(id)).skills).toEqual(['SQL']);
    await patch(id, { op: 'add', path: `${urn}:offices[city eq "Bern"].desk`, value: 7 });
    expect((await read(id)).offices).toEqual([{ city: 'Bern', desk: 7 }]);
    await patch(id, { op: 'replace', path: `${urn}:offices[desk ge 7].desk`, value: 8 });
    expect((await read(id)).offices).toEqual([{ city: 'Bern', desk: 8 }]);
    const bulk = await project.request('POST', '/Bulk', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      Operations: [
        { method: 'PATCH', path: `/Users/${id}`, data: { Operations: [{ op: 'remove', path: `${urn}:offices` }] } },
        { method: 'POST', path: '/Users', bulkId: 'x', data: { userName: 'bulk', [urn]: { floor: 'no' } } },
      ],
    });
    expect(bulk.body.Operations.map(({ status }: { status: string }) => status)).toEqual(['200', '400']);
    await patch(id, { op: 'remove', path: urn });
    expect(await read(id)).toBeUndefined();
    const events = await rows<{ detail: unknown }>(
      app.services.db,
      `select detail from audit_log where subject_id = ? and type = 'user.updated' order by id limit 2`,
      [id],
    );
    expect(events.map(({ detail }) => detail)).toEqual([
      { changed: [`${urn}:floor`] },
      { changed: [`${urn}:badge`, `${urn}:floor`] },
    ]);
  });

  it('have at most 8 KB for a user', async () => {
    await string('a');
    await string('b');
    const id = await created({ a: 'x'.repeat(4000), b: 'x'.repeat(4000) });
    const refused = await patch(id, { op: 'replace', path: `${urn}:a`, value: 'ä'.repeat(4000) });
    expect(refused).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(refused.body.detail).toMatch(/has 12\d+ bytes: the custom attributes of a user must have at most 8192/);
    expect((await create({ a: 'x'.repeat(8193) })).status).toBe(400);
  });

  it('come under another name, if the definition has an alias', async () => {
    await string('badge', { alias: 'urn:acme:hr:1.0:User:badgeNo' });
    await define({ name: 'shoes', type: 'integer', alias: 'shoeSize' });
    const acme = 'urn:acme:hr:1.0:User';
    const { body } = await create(undefined, { [acme]: { BadgeNo: 'B1', other: 1 }, shoeSize: 44, hatSize: 5 });
    expect(body[urn]).toEqual({ badge: 'B1', shoes: 44 });
    await patch(body.id, { op: 'replace', path: `${acme}:badgeNo`, value: 'B2' });
    expect(await read(body.id)).toEqual({ badge: 'B2', shoes: 44 });
    expect(await found(`${acme}:badgeNo eq "b2" and shoeSize gt 40`)).toEqual([body.id]);
    await app.services.requestRecords.settled();
    const [record] = await rows<{ ignored: string[] }>(
      app.services.db,
      `select ignored from scim_request_records where project_id = ? and method = 'POST'`,
      [project.id],
    );
    expect(record?.ignored).toEqual([`${acme}:other`, 'hatSize']);
  });
});

describe('characteristics', () => {
  it('required: of active users, at POST and PUT; no PATCH removes it', async () => {
    await string('old');
    const before = await created({ old: 'x' });
    await string('badge', { required: true });
    const refused = await create({});
    expect(refused).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue', detail: `${urn}:badge is required.` },
    });
    const put = (body: object) => project.request('PUT', `/Users/${before}`, { userName: 'old', ...body });
    expect((await put({})).body.detail).toBe(`${urn}:badge is required.`);
    expect((await patch(before, { op: 'add', path: `${urn}:old`, value: 'y' })).status).toBe(400);
    // What became required later does not keep anybody's access alive.
    expect((await patch(before, { op: 'replace', path: 'active', value: false })).status).toBe(200);
    expect((await put({ active: false })).status).toBe(200);
    expect((await put({ active: true })).status).toBe(400);
    expect((await put({ active: true, [urn]: { badge: 'B' } })).body[urn]).toEqual({ badge: 'B' });
    for (const path of [urn, `${urn}:badge`]) {
      expect((await patch(before, { op: 'remove', path })).body.scimType).toBe('mutability');
    }
    expect(await read(before)).toEqual({ badge: 'B' });
  });

  it('readOnly: directories neither set, change nor remove it', async () => {
    await string('level', { mutability: 'readOnly' });
    await string('badge');
    const id = await created({ level: 'x', badge: 'a' });
    expect(await read(id)).toEqual({ badge: 'a' });
    await app.services.db.transaction((em) =>
      em.execute(
        `update users set attributes = jsonb_set(attributes, array['${urn}','level'], '"gold"') where id = '${id}'`,
      ),
    );
    expect((await patch(id, { op: 'replace', path: `${urn}:level`, value: 'x' })).body.scimType).toBe('mutability');
    await patch(id, { op: 'replace', value: { [urn]: { level: 'x', badge: 'b' } } });
    expect(await read(id)).toEqual({ level: 'gold', badge: 'b' });
    await project.request('PUT', `/Users/${id}`, { userName: 'r', [urn]: { level: 'x' } });
    expect(await read(id)).toEqual({ level: 'gold' });
    await patch(id, { op: 'remove', path: urn });
    expect(await read(id)).toEqual({ level: 'gold' });
  });

  it('immutable: is set once', async () => {
    await string('code', { mutability: 'immutable' });
    const id = await created({});
    await patch(id, { op: 'add', path: `${urn}:code`, value: 'a' });
    expect((await patch(id, { op: 'replace', path: `${urn}:code`, value: 'a' })).status).toBe(200);
    for (const operation of [
      { op: 'replace', path: `${urn}:code`, value: 'b' },
      { op: 'remove', path: `${urn}:code` },
      { op: 'remove', path: urn },
      { op: 'add', value: { [urn]: { code: 'b' } } },
    ]) {
      expect((await patch(id, operation)).body).toMatchObject({ status: '400', scimType: 'mutability' });
    }
    const put = (custom?: object) => project.request('PUT', `/Users/${id}`, { userName: 'i', [urn]: custom });
    expect((await put({ code: 'b' })).body.scimType).toBe('mutability');
    expect((await put({ code: 'a' })).status).toBe(200);
    expect((await put()).body[urn]).toEqual({ code: 'a' });
  });

  it('writeOnly and never: no response, filter or order reveals it', async () => {
    await string('pin', { mutability: 'writeOnly' });
    await define({
      ...{ name: 'cards', type: 'complex', multiValued: true, returned: 'never' },
      subAttributes: [{ name: 'no', type: 'string' }],
    });
    const answer = await create({ pin: '1234', cards: [{ no: '7' }] }, {}, `?attributes=${urn}:pin,${urn}`);
    const { id } = answer.body;
    expect(answer.text).not.toContain('1234');
    for (const query of ['', `?attributes=${urn}`, `?attributes=${urn}:pin`, '?excludedAttributes=userName']) {
      expect((await project.request('GET', `/Users/${id}${query}`)).text).not.toMatch(/1234|"no"|latchkey:2/);
    }
    for (const filter of [`${urn}:pin sw "1"`, `${urn}:pin pr`, `${urn}:cards.no eq "7"`, `${urn}:cards[no eq "7"]`]) {
      expect(await found(filter)).toBe('invalidFilter');
    }
    expect((await project.request('GET', `/Users?sortBy=${urn}:pin`)).body.scimType).toBe('invalidPath');
    expect((await patch(id, { op: 'remove', path: `${urn}:cards[no eq "7"]` })).body.scimType).toBe('invalidPath');
    const stored = async () =>
      (
        await rows<{ own: object }>(app.services.db, `select attributes->? as own from users where id = ?`, [urn, id])
      )[0]?.own;
    // A client cannot send back what it cannot read.
    await project.request('PUT', `/Users/${id}`, { userName: 'w' });
    expect(await stored()).toEqual({ pin: '1234', cards: [{ no: '7' }] });
    await patch(id, { op: 'remove', path: `${urn}:pin` });
    expect(await stored()).toEqual({ cards: [{ no: '7' }] });
  });

  it('returned: always with any projection, on request only if it is named or has been set', async () => {
    await string('always', { returned: 'always' });
    await string('usual');
    await string('request', { returned: 'request' });
    const values = { always: 'a', usual: 'u', request: 'r' };
    const answer = await create(values);
    const { id } = answer.body;
    expect(answer.body[urn]).toEqual(values);
    expect(await read(id)).toEqual({ always: 'a', usual: 'u' });
    expect(await read(id, `?attributes=userName`)).toEqual({ always: 'a' });
    expect(await read(id, `?attributes=${urn}:request`)).toEqual({ always: 'a', request: 'r' });
    expect(await read(id, `?excludedAttributes=${urn}`)).toEqual({ always: 'a' });
    expect(await read(id, `?excludedAttributes=${urn}:always`)).toEqual({ always: 'a', usual: 'u' });
    expect((await patch(id, { op: 'replace', path: 'title', value: 'T' })).body[urn]).toEqual({
      always: 'a',
      usual: 'u',
    });
    expect((await patch(id, { op: 'replace', path: `${urn}:request`, value: 's' })).body[urn]).toMatchObject({
      request: 's',
    });
    const list = await project.request('GET', '/Users');
    expect(list.body.Resources[0][urn]).toEqual({ always: 'a', usual: 'u' });
  });

  it('uniqueness: holds in the project, ignoring case, also in a race; the 409 names the attribute alone', async () => {
    await string('badge', { uniqueness: 'server' });
    await define({ name: 'codes', type: 'integer', multiValued: true, uniqueness: 'server' });
    const id = await created({ badge: 'B-1', codes: [1, 2] });
    for (const custom of [{ badge: 'b-1' }, { codes: [3, 2] }]) {
      const { status, body } = await create(custom);
      const [name] = Object.keys(custom);
      expect([status, body.scimType]).toEqual([409, 'uniqueness']);
      expect(body.detail).toBe(`User: another one of this project has this value of ${urn}:${name}.`);
    }
    const second = await created({ badge: 'B-2' });
    expect((await patch(second, { op: 'replace', path: `${urn}:badge`, value: 'b-1' })).status).toBe(409);
    // Also under the lock, together with a change of access.
    const both = [
      { op: 'replace', path: `${urn}:badge`, value: 'b-1' },
      { op: 'replace', path: 'active', value: false },
    ];
    const refused = await patch(second, ...both);
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining(`${urn}:badge.`)]);
    expect((await project.request('GET', `/Users/${second}`)).body.active).toBe(true);
    await patch(id, { op: 'replace', path: `${urn}:badge`, value: 'B-3' });
    expect((await patch(second, { op: 'replace', path: `${urn}:badge`, value: 'b-1' })).status).toBe(200);
    const statuses = (await Promise.all(Array.from({ length: 40 }, () => create({ badge: 'race' })))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(39);
    await project.request('DELETE', `/Users/${id}`);
    expect((await create({ badge: 'B-3' })).status).toBe(201);
  });
});

describe('filters and orders', () => {
  it('compare by type, whatever other projects store under the same name', async () => {
    const other = await app.project();
    for (const name of ['text', 'exact', 'n', 'at', 'list', 'flag', 'parts']) {
      await define({ name, type: 'string' }, other.id);
    }
    const junk = { text: 'x', exact: 'x', n: 'x', at: '2026-02-30T00:00:00Z', list: 'x', flag: 'x', parts: 'x' };
    await other.request('POST', '/Users', { userName: 'other', [urn]: junk });
    await string('text');
    await string('exact', { caseExact: true });
    await define({ name: 'n', type: 'decimal' });
    await define({ name: 'at', type: 'dateTime' });
    await define({ name: 'flag', type: 'boolean' });
    await string('list', { multiValued: true });
    const subAttributes = [
      { name: 'a', type: 'string' as const },
      { name: 'b', type: 'integer' as const },
    ];
    await define({ name: 'parts', type: 'complex', multiValued: true, subAttributes });
    const one = await created({
      text: 'Ab',
      exact: 'Ab',
      n: 9,
      at: '2026-01-01T00:00:00Z',
      flag: true,
      list: ['x', 'Y'],
    });
    const two = await created({
      text: 'b',
      n: 10.5,
      at: '2026-01-01T01:00:00Z',
      parts: [
        { a: 'p', b: 1 },
        { a: 'q', b: 2 },
      ],
    });
    const none = await created({});
    const all = [one, two, none];
    const cases: [string, string[]][] = [
      ['text eq "aB"', [one]],
      ['exact eq "aB"', []],
      ['exact eq "Ab"', [one]],
      ['text ne "ab"', [two, none]],
      ['text co "B"', [one, two]],
      ['text sw "a"', [one]],
      ['text ew "B"', [one, two]],
      ['text pr', [one, two]],
      ['not (text pr)', [none]],
      ['n gt 9', [two]],
      ['n ge 9', [one, two]],
      ['n lt 10', [one]],
      ['n eq 10.50', [two]],
      ['n eq "9"', [one]],
      ['n ne 9', [two, none]],
      ['at eq "2026-01-01T01:00:00+01:00"', [one]],
      ['at gt "2026-01-01T00:30:00Z"', [two]],
      ['at sw "2026-01-01t00"', [one]],
      ['flag eq true', [one]],
      ['flag ne true', [two, none]],
      ['list eq "y"', [one]],
      ['list ne "y"', [two, none, one].filter((id) => id !== one)],
      ['list pr', [one]],
      ['list[value sw "X"]', [one]],
      ['parts[a eq "p" and b eq 1]', [two]],
      ['parts[a eq "p" and b eq 2]', []],
      ['parts.b ge 2', [two]],
      ['parts pr', [two]],
    ];
    for (const [filter, expected] of cases) {
      const text = filter.replace(/^(not \()?(\w+)/, `$1${urn}:$2`);
      const ids = await found(text);
      const wanted = filter === 'list ne "y"' ? all : expected;
      expect([filter, ids]).toEqual([filter, expect.arrayContaining(wanted)]);
      if (filter !== 'list ne "y"') expect([filter, ids.length]).toEqual([filter, wanted.length]);
    }
    for (const filter of [
      'n co "9"',
      'n eq "x"',
      'n eq true',
      'flag gt true',
      'at gt "soon"',
      'text eq 5',
      'nothing pr',
      'parts eq "x"',
    ]) {
      expect([filter, await found(`${urn}:${filter}`)]).toEqual([filter, 'invalidFilter']);
    }
    expect(await found('userName pr', `&sortBy=${urn}:n&sortOrder=descending`)).toEqual([none, two, one]);
    expect(await found('userName pr', `&sortBy=${urn}:at`)).toEqual([one, two, none]);
    expect(await found('userName pr', `&sortBy=${urn}:list`)).toHaveLength(3);
    let cursor = '';
    const walked: string[] = [];
    for (let page = 0; page < 3; page += 1) {
      const { body } = await project.request('GET', `/Users?sortBy=${urn}:n&count=1&cursor=${cursor}`);
      walked.push(...body.Resources.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor ?? '';
    }
    expect(walked).toEqual([one, two, none]);
  });

  it('use the index for equality, which follows every change', async () => {
    await string('badge', { indexed: true });
    await define({ name: 'n', type: 'integer', indexed: true, multiValued: true });
    const id = await created({ badge: 'Straße', n: [1, 2] });
    const keys = async () =>
      (
        await rows<{ key: string }>(app.services.db, 'select key from custom_values where user_id = ? order by 1', [id])
      ).map(({ key }) => key);
    expect(await keys()).toEqual(['1', '2', 'straße']);
    expect(await found(`${urn}:badge eq "STRAßE"`)).toEqual([id]);
    expect(await found(`${urn}:n eq 2 and ${urn}:badge sw "s"`)).toEqual([id]);
    await patch(id, { op: 'remove', path: `${urn}:n[value eq 1]` });
    // Takes the lock.
    await patch(id, { op: 'replace', value: { active: false, [urn]: { badge: 'x' } } });
    expect(await keys()).toEqual(['2', 'x']);
    expect(await found(`${urn}:n eq 1`)).toEqual([]);
    await project.request('PUT', `/Users/${id}`, { userName: 'indexed' });
    expect(await keys()).toEqual([]);
    const long = await create({ badge: 'x'.repeat(513) });
    expect(long.body.detail).toBe(`${urn}:badge must have at most 512 characters: the attribute is indexed.`);
  });
});

describe('definitions in use', () => {
  it('change for the next request in every process, and never under a write', async () => {
    const { customAttributes, users } = app.services;
    await string('badge');
    const id = await created({ badge: 'a' });
    // Another process has deleted it; this one has read the definitions before.
    const stale = await customAttributes.current(project.id);
    expect(await customAttributes.delete(project.id, 'badge', system)).toBe(1);
    expect(await read(id)).toBeUndefined();
    const values = {
      userName: 's',
      externalId: null,
      displayName: null,
      givenName: null,
      familyName: null,
      active: true,
    };
    const write = () =>
      users.create(
        app.services.db.alone,
        project.id,
        { ...values, attributes: { [urn]: { badge: 'x' } } },
        'scim',
        system,
        undefined,
        stale,
      );
    await expect(write()).rejects.toMatchObject({ problem: { code: 'conflict', what: 'custom-attribute' } });
    // The name is free once its values are deleted.
    await expect(string('Badge')).rejects.toMatchObject({ problem: { code: 'invalid', field: 'name' } });
    const { version } = (await app.services.accounts.find(project.id, id)) ?? {};
    await customAttributes.sweep();
    expect(await app.services.accounts.find(project.id, id)).toMatchObject({
      attributes: {},
      version: (version ?? 0) + 1,
    });
    await define({ name: 'Badge', type: 'integer' });
    expect((await patch(id, { op: 'add', path: `${urn}:badge`, value: 5 })).body[urn]).toEqual({ Badge: 5 });
  });

  it('retries a request whose definitions change while it runs', async () => {
    const { customAttributes } = app.services;
    await string('badge');
    const ofVersion = customAttributes.ofVersion.bind(customAttributes);
    customAttributes.ofVersion = async (projectId, version) => {
      const schema = await ofVersion(projectId, version);
      await customAttributes.update(projectId, 'badge', { description: `${Math.random()}` }, system);
      return schema;
    };
    try {
      const answer = await create({ badge: 'x' });
      expect(answer).toMatchObject({ status: 201 });
      expect((await patch(answer.body.id, { op: 'replace', path: `${urn}:badge`, value: 'y' })).body[urn]).toEqual({
        badge: 'y',
      });
    } finally {
      Reflect.deleteProperty(customAttributes, 'ofVersion');
    }
  });
});
