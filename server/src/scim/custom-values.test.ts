/** Values of custom attributes over SCIM (decisions/0127), and changes of their definitions. */

import { describe, expect, it } from 'vitest';
import { customAttributesHarness } from '../../test/custom-attributes.ts';
import { rows } from '../../test/rows.ts';
import { system } from '../domain/kernel/actor.ts';
import { customUrn as urn } from '../domain/users/custom/definition.ts';
import { atProject } from '../domain/users/identity/home.ts';

const harness = customAttributesHarness();
const { created, create, define, found, patch, read, string } = harness;

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
    const other = await harness.app.project();
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

  it('change by a path with a filter on unknown parts as by the bare path, unless they are never returned', async () => {
    await string('badge');
    await string('skills', { multiValued: true });
    await string('pin', { returned: 'never' });
    const id = await created({ badge: 'B-7', skills: ['go', 'sql'] });
    const change = (op: string, path: string, value?: unknown) => patch(id, { op, path: `${urn}:${path}`, value });
    expect((await change('replace', 'badge[type eq "x"].value', 'B-8')).body[urn].badge).toBe('B-8');
    expect(
      (await change('replace', 'badge[primary eq true].value', [{ $ref: null, value: 'B-9' }])).body[urn].badge,
    ).toBe('B-9');
    expect((await change('remove', 'badge[value eq "other"]')).body[urn].badge).toBe('B-9');
    expect((await change('remove', 'badge[value eq "b-9"]')).body[urn].badge).toBeUndefined();
    expect((await change('add', 'skills[type eq "x"].value', 'c')).body[urn].skills).toEqual(['go', 'sql', 'c']);
    expect((await change('remove', 'skills[value eq "sql"].value')).body[urn].skills).toEqual(['go', 'c']);
    expect((await change('remove', 'pin[value eq "1234"]')).body).toMatchObject({ scimType: 'invalidPath' });
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
    const bulk = await harness.project.request('POST', '/Bulk', {
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
      harness.app.services.db,
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
    expect(refused.body.detail).toBe(`${urn} must have at most 8192 bytes.`);
    expect((await create({ a: 'x'.repeat(8193) })).status).toBe(400);
    await string('pin', { returned: 'never' });
    const { detail } = (await patch(id, { op: 'replace', path: `${urn}:a`, value: 'ä'.repeat(4000) })).body;
    expect(detail).toBe(`${urn} must have at most 8192 bytes.`);
  });

  it('reach the size limits at the same length for every hidden value', async () => {
    await string('open');
    await define({ name: 'flag', type: 'boolean', returned: 'never' });
    const subAttributes = [
      { name: 'flag', type: 'boolean' as const },
      { name: 'note', type: 'string' as const },
    ];
    await define({ name: 'card', type: 'complex', returned: 'never', subAttributes });
    /** The longest text that the user may get. */
    const longest = async (custom: object, operation: (text: string) => object, most: number) => {
      const id = await created(custom);
      let accepted = 0;
      for (let refused = most; refused - accepted > 1; ) {
        const length = Math.floor((accepted + refused) / 2);
        if ((await patch(id, operation('x'.repeat(length)))).status === 200) accepted = length;
        else refused = length;
      }
      return accepted;
    };
    const replaces = (path: string) => (value: string) => ({ op: 'replace', path, value });
    const photos = (text: string) => ({
      op: 'replace',
      path: 'photos',
      value: [0, 1, 2, 3].map((at) => ({ value: `${at}${'y'.repeat(60_000)}` })).concat({ value: text }),
    });
    for (const [operation, most] of [
      [replaces(`${urn}:open`), 8192],
      [replaces(`${urn}:card.note`), 8192],
      [photos, 40_000],
    ] as const) {
      const [yes, no] = [true, false].map((flag) => longest({ flag, card: { flag } }, operation, most));
      expect(await yes).toBe(await no);
    }
  });

  it('can have another name in requests if the definition has an alias', async () => {
    await string('badge', { alias: 'urn:acme:hr:1.0:User:badgeNo' });
    await define({ name: 'shoes', type: 'integer', alias: 'shoeSize' });
    const acme = 'urn:acme:hr:1.0:User';
    const { body } = await create(undefined, { [acme]: { BadgeNo: 'B1', other: 1 }, shoeSize: 44, hatSize: 5 });
    expect(body[urn]).toEqual({ badge: 'B1', shoes: 44 });
    await patch(body.id, { op: 'replace', path: `${acme}:badgeNo`, value: 'B2' });
    expect(await read(body.id)).toEqual({ badge: 'B2', shoes: 44 });
    expect(await found(`${acme}:badgeNo eq "b2" and shoeSize gt 40`)).toEqual([body.id]);
    await harness.app.services.requestRecords.settled();
    const [record] = await rows<{ ignored: string[] }>(
      harness.app.services.db,
      `select ignored from scim_request_records where project_id = ? and method = 'POST'`,
      [harness.project.id],
    );
    expect(record?.ignored).toEqual([`${acme}:other`, 'hatSize']);
  });

  it('store no password and no value of another attribute, regardless of their alias', async () => {
    const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
    const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    const aliases = ['password', 'Password', `${core}:password`, 'urn:acme:hr:1.0:User:password'];
    for (const alias of aliases) {
      await expect(async () => string('a', { alias })).rejects.toMatchObject({
        problem: { code: 'invalid', field: 'alias' },
      });
    }
    await string('active', { alias: `${core}:active` });
    await string('name', { alias: `${core}:userName` });
    await string('unit', { alias: `${enterprise}:department` });
    await string('secret');
    await string('secret2');
    // From an earlier release.
    for (const [name, alias] of [
      ['secret', 'password'],
      ['secret2', `${core}:password`],
    ]) {
      await rows(
        harness.app.services.db,
        `update custom_schemas set version = version + 1, attributes = (select jsonb_agg(case when a->>'name' = ?
           then a || jsonb_build_object('alias', ?::text) else a end) from jsonb_array_elements(attributes) a)
         where project_id = ? returning 1`,
        [name, alias, harness.project.id],
      );
    }
    const sent = { password: 'Pa55-word', [core]: { password: 'Pa55-word' }, [`${core}:password`]: 'Pa55-word' };
    const { body } = await create(undefined, { ...sent, [enterprise]: { department: 'Sales' } });
    await patch(body.id, { op: 'replace', path: 'password', value: 'Pa55-word' });
    await patch(body.id, { op: 'replace', path: `${core}:password`, value: 'Pa55-word' });
    await patch(body.id, { op: 'replace', path: `${core}:userName`, value: `renamed-${body.userName}` });
    const left = (await patch(body.id, { op: 'replace', path: `${core}:active`, value: false })).body;
    expect(left).toMatchObject({ userName: `renamed-${body.userName}`, active: false });
    expect(left[enterprise]).toEqual({ department: 'Sales' });
    expect(await read(body.id)).toBeUndefined();
    const stored = await rows(harness.app.services.db, `select attributes::text from users where id = ?`, [body.id]);
    expect(JSON.stringify(stored)).not.toContain('Pa55');
  });
});

describe('definitions in use', () => {
  it('change for the next request in every process, and never during a write', async () => {
    const { customAttributes, users } = harness.app.services;
    await string('badge');
    const id = await created({ badge: 'a' });
    // Another process has deleted it; this one has read the definitions before.
    const stale = await customAttributes.current(harness.project.id);
    expect(await customAttributes.delete(harness.project.id, 'badge', system)).toBe(1);
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
        harness.app.services.db.alone,
        atProject(harness.project.id),
        { ...values, attributes: { [urn]: { badge: 'x' } } },
        'scim',
        system,
        { schema: stale },
      );
    await expect(write()).rejects.toMatchObject({ problem: { code: 'conflict', what: 'custom-attribute' } });
    // The name is free once its values are deleted.
    await expect(string('Badge')).rejects.toMatchObject({ problem: { code: 'invalid', field: 'name' } });
    const { version } = (await harness.app.services.accounts.find(harness.project.id, id)) ?? {};
    await customAttributes.sweep();
    expect(await harness.app.services.accounts.find(harness.project.id, id)).toMatchObject({
      attributes: {},
      version: (version ?? 0) + 1,
    });
    await define({ name: 'Badge', type: 'integer' });
    expect((await patch(id, { op: 'add', path: `${urn}:badge`, value: 5 })).body[urn]).toEqual({ Badge: 5 });
  });

  it('retries a request whose definitions change while it runs', async () => {
    const { customAttributes } = harness.app.services;
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
