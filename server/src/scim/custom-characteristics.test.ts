/** Characteristics of custom attributes over SCIM: RFC 7643 §2.2 and §7, decisions/0127. */
import { describe, expect, it } from 'vitest';
import { customAttributesHarness } from '../../test/custom-attributes.ts';
import { rows } from '../../test/rows.ts';
import { customUrn as urn } from '../domain/users/custom/definition.ts';

const harness = customAttributesHarness();
const { created, create, define, found, patch, read, string } = harness;

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
    const put = (body: object) => harness.project.request('PUT', `/Users/${before}`, { userName: 'old', ...body });
    expect((await put({})).body.detail).toBe(`${urn}:badge is required.`);
    expect((await patch(before, { op: 'add', path: `${urn}:old`, value: 'y' })).status).toBe(400);
    // An attribute that became required later does not block a deactivation.
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
    await harness.app.services.db.transaction((em) =>
      em.execute(
        `update users set attributes = jsonb_set(attributes, array['${urn}','level'], '"gold"') where id = '${id}'`,
      ),
    );
    expect((await patch(id, { op: 'replace', path: `${urn}:level`, value: 'x' })).body.scimType).toBe('mutability');
    await patch(id, { op: 'replace', value: { [urn]: { level: 'x', badge: 'b' } } });
    expect(await read(id)).toEqual({ level: 'gold', badge: 'b' });
    await harness.project.request('PUT', `/Users/${id}`, { userName: 'r', [urn]: { level: 'x' } });
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
    const put = (custom?: object) => harness.project.request('PUT', `/Users/${id}`, { userName: 'i', [urn]: custom });
    expect((await put({ code: 'b' })).body.scimType).toBe('mutability');
    expect((await put({ code: 'a' })).status).toBe(200);
    expect((await put()).body[urn]).toEqual({ code: 'a' });
  });

  it('immutable and never: a PATCH that names the value is refused, and a PUT leaves it, equal or not', async () => {
    const custom = { mutability: 'immutable', returned: 'never' } as const;
    await string('code', custom);
    await string('codes', { ...custom, multiValued: true });
    await define({ name: 'card', type: 'complex', ...custom, subAttributes: [{ name: 'no', type: 'string' }] });
    const id = await created({ codes: ['a', 'b'], card: { no: 'a' } });
    expect((await patch(id, { op: 'add', path: `${urn}:code`, value: 'a' })).status).toBe(200);
    const put = (own?: object) => harness.project.request('PUT', `/Users/${id}`, { userName: 'i', [urn]: own });
    for (const value of ['a', 'b']) {
      for (const operation of [
        { op: 'replace', path: `${urn}:code`, value },
        { op: 'add', value: { [urn]: { code: value } } },
        { op: 'add', path: urn, value: { code: value } },
        { op: 'add', path: `${urn}:codes`, value: [value] },
        { op: 'remove', path: `${urn}:codes`, value: [value] },
        { op: 'replace', path: `${urn}:card.no`, value },
      ]) {
        expect([operation, (await patch(id, operation)).body.scimType]).toEqual([operation, 'mutability']);
      }
      for (const own of [{ code: value }, { codes: ['a', value] }, { card: { no: value } }]) {
        expect([own, (await put(own)).status]).toEqual([own, 200]);
      }
    }
    expect((await put()).status).toBe(200);
    expect((await patch(id, { op: 'replace', path: 'title', value: 'T' })).status).toBe(200);
  });

  it('never: neither the version nor the event shows whether a write has changed the value', async () => {
    await string('pins', { multiValued: true, returned: 'never' });
    await string('pin', { returned: 'never' });
    await string('open');
    const id = await created({ pins: ['a', 'b'], pin: 'a', open: 'a' });
    const events = async () => {
      const log = `select detail from audit_log where subject_id = ? and type = 'user.updated' order by id desc`;
      return (await rows<{ detail: object }>(harness.app.services.db, log, [id])).map(({ detail }) => detail);
    };
    let version = 1;
    const put = (own: object) => harness.project.request('PUT', `/Users/${id}`, { userName: 'p', [urn]: own });
    await put({ open: 'a' });
    version += 1;
    for (const value of ['a', 'c', 'c']) {
      for (const send of [
        () => patch(id, { op: 'replace', path: `${urn}:pins`, value: [value] }),
        () => patch(id, { op: 'replace', value: { [urn]: { pins: value } } }),
        () => patch(id, { op: 'replace', path: `${urn}:pin`, value }),
        () => put({ pin: value, open: 'a' }),
        () => put({ pins: ['a', value], open: 'a' }),
      ]) {
        const { body } = await send();
        version += 1;
        expect(body.meta.version).toBe(`W/"${version}"`);
        const [{ changed }] = (await events()) as [{ changed: string[] }];
        expect(changed).toEqual([expect.stringMatching(/:pins?$/)]);
      }
    }
    // The same under the lock, with a change of access; without a hidden attribute, no change is recorded.
    const both = [
      { op: 'replace', path: `${urn}:pins`, value: ['a'] },
      { op: 'replace', path: 'active', value: false },
    ];
    await patch(id, ...both);
    expect((await events())[0]).toMatchObject({ changed: ['active', `${urn}:pins`] });
    const same = await patch(id, { op: 'replace', path: `${urn}:open`, value: 'a' });
    expect(same.body.meta.version).toBe(`W/"${version + 1}"`);
  });

  it('never: a list with values, of any content, is only replaced or removed as a whole', async () => {
    await string('pins', { multiValued: true, returned: 'never', required: true });
    await define({
      ...{ name: 'cards', type: 'complex', multiValued: true, returned: 'never' },
      subAttributes: [{ name: 'no', type: 'string' }],
    });
    await string('open');
    const id = await created({ pins: ['a'], cards: [{ no: 'a' }], open: 'a' });
    const pins = `${urn}:pins`;
    const cards = `${urn}:cards`;
    for (const value of ['a', 'b']) {
      // `required`, the number of values and their size would each reveal whether the list has the value.
      for (const operation of [
        { op: 'remove', path: pins, value: [value] },
        { op: 'add', path: pins, value: [value, ...Array.from({ length: 499 }, (_, at) => `${at}`)] },
        { op: 'add', value: { [urn]: { pins: value } } },
        { op: 'add', path: urn, value: { pins: value } },
        { op: 'remove', path: cards, value: [{ no: value }] },
        { op: 'add', path: cards, value: [{ no: value }] },
      ]) {
        const { body } = await patch(id, operation);
        expect([operation, body.scimType, body.detail]).toEqual([
          operation,
          'mutability',
          expect.stringMatching(/^(pins|cards) is never returned and has values: replace or remove it as a whole\.$/),
        ]);
      }
    }
    const first = [
      { op: 'remove', path: cards },
      { op: 'add', path: cards, value: [{ no: 'b' }] },
      { op: 'replace', path: pins, value: ['b', 'c'] },
    ];
    expect((await patch(id, ...first)).status).toBe(200);
    const log = `select attributes->? as own from users where id = ?`;
    const [user] = await rows<{ own: object }>(harness.app.services.db, log, [urn, id]);
    expect(user?.own).toEqual({ pins: ['b', 'c'], cards: [{ no: 'b' }], open: 'a' });
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
    const [pin, cards] = (await harness.project.request('GET', `/Schemas/${urn}`)).body.attributes;
    for (const each of [pin, cards, ...cards.subAttributes])
      expect([each.name, each.returned]).toEqual([each.name, 'never']);
    for (const query of ['', `?attributes=${urn}`, `?attributes=${urn}:pin`, '?excludedAttributes=userName']) {
      expect((await harness.project.request('GET', `/Users/${id}${query}`)).text).not.toMatch(/1234|"no"|latchkey:2/);
    }
    for (const filter of [`${urn}:pin sw "1"`, `${urn}:pin pr`, `${urn}:cards.no eq "7"`, `${urn}:cards[no eq "7"]`]) {
      expect(await found(filter)).toBe('invalidFilter');
    }
    expect((await harness.project.request('GET', `/Users?sortBy=${urn}:pin`)).body.scimType).toBe('invalidPath');
    await string('open');
    const shown = await created({ pin: '1', open: 'a' });
    expect(await found(`schemas eq "${urn}"`)).toEqual([shown]);
    expect(await found(`not (schemas co "latchkey")`)).toEqual([id]);
    expect((await patch(id, { op: 'remove', path: `${urn}:cards[no eq "7"]` })).body.scimType).toBe('invalidPath');
    const stored = async () =>
      (
        await rows<{ own: object }>(harness.app.services.db, `select attributes->? as own from users where id = ?`, [
          urn,
          id,
        ])
      )[0]?.own;
    // A client cannot send back values that it cannot read.
    await harness.project.request('PUT', `/Users/${id}`, { userName: 'w' });
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
    const list = await harness.project.request('GET', '/Users');
    expect(list.body.Resources[0][urn]).toEqual({ always: 'a', usual: 'u' });
  });

  it('uniqueness: holds in the project, ignoring case, even in a race; the 409 names only the attribute', async () => {
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
    // The same under the lock, together with a change of access.
    const both = [
      { op: 'replace', path: `${urn}:badge`, value: 'b-1' },
      { op: 'replace', path: 'active', value: false },
    ];
    const refused = await patch(second, ...both);
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining(`${urn}:badge.`)]);
    expect((await harness.project.request('GET', `/Users/${second}`)).body.active).toBe(true);
    await patch(id, { op: 'replace', path: `${urn}:badge`, value: 'B-3' });
    expect((await patch(second, { op: 'replace', path: `${urn}:badge`, value: 'b-1' })).status).toBe(200);
    const statuses = (await Promise.all(Array.from({ length: 40 }, () => create({ badge: 'race' })))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(39);
    await harness.project.request('DELETE', `/Users/${id}`);
    expect((await create({ badge: 'B-3' })).status).toBe(201);
  });
});
