/** Filters and orders by custom attributes over SCIM (decisions/0127). */
import { describe, expect, it } from 'vitest';
import { customAttributesHarness } from '../../test/custom-attributes.ts';
import { changed, rows } from '../../test/rows.ts';
import { customUrn as urn } from '../domain/users/custom/definition.ts';

const harness = customAttributesHarness();
const { created, create, define, found, patch, string } = harness;

describe('filters and orders', () => {
  it('compare by type, even if other projects store another type under the same name', async () => {
    const other = await harness.app.project();
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
      const { body } = await harness.project.request('GET', `/Users?sortBy=${urn}:n&count=1&cursor=${cursor}`);
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
        await rows<{ key: string }>(
          harness.app.services.db,
          'select key from custom_values where user_id = ? order by 1',
          [id],
        )
      ).map(({ key }) => key);
    expect(await keys()).toEqual(['1', '2', 'straße']);
    expect(await found(`${urn}:badge eq "STRAßE"`)).toEqual([id]);
    expect(await found(`${urn}:n eq 2 and ${urn}:badge sw "s"`)).toEqual([id]);
    await patch(id, { op: 'remove', path: `${urn}:n[value eq 1]` });
    // Takes the lock.
    await patch(id, { op: 'replace', value: { active: false, [urn]: { badge: 'x' } } });
    expect(await keys()).toEqual(['2', 'x']);
    expect(await found(`${urn}:n eq 1`)).toEqual([]);
    // The filter reads only the index: without its keys, no user is found.
    const { db } = harness.app.services;
    await changed(db, 'delete from custom_values where user_id = ? and key = ?', [id, '2']);
    expect(await found(`${urn}:n eq 2`)).toEqual([]);
    expect(await found(`${urn}:n ge 2`)).toEqual([id]);
    await harness.project.request('PUT', `/Users/${id}`, { userName: 'indexed' });
    expect(await keys()).toEqual([]);
    const long = await create({ badge: 'x'.repeat(513) });
    expect(long.body.detail).toBe(`${urn}:badge must have at most 512 characters: the attribute is indexed.`);
  });

  it('compare the keys of the index in their stored form', async () => {
    await define({ name: 'at', type: 'dateTime', indexed: true });
    await define({ name: 'once', type: 'dateTime', uniqueness: 'server', multiValued: true });
    await define({ name: 'n', type: 'decimal', indexed: true });
    const time = '2026-01-01T01:00:00+01:00';
    const id = await created({ at: time, once: [time], n: 1 });
    for (const filter of [
      `at eq "${time}"`,
      'at eq "2026-01-01T00:00:00Z"',
      'at eq "2026-01-01t00:00:00.000z"',
      'at eq "2025-12-31T23:00:00.0000-01:00"',
      `once eq "${time}"`,
      `once[value eq "${time}"]`,
      'n eq 1.0',
      'n eq "1.00"',
      'n eq 10e-1',
    ]) {
      expect([filter, await found(`${urn}:${filter}`)]).toEqual([filter, [id]]);
    }
    expect(await found(`${urn}:at eq "2026-01-01T01:00:00Z"`)).toEqual([]);
    expect((await create({ once: ['2025-12-31T23:00:00-01:00'] })).status).toBe(409);
  });

  it('compare times outside the four-digit years of UTC', async () => {
    await define({ name: 'at', type: 'dateTime' });
    await define({ name: 'list', type: 'dateTime', multiValued: true });
    const [first, last] = ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'];
    const [low, high] = [await created({ at: first, list: [first] }), await created({ at: last, list: [last] })];
    const [below, above] = ['0000-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'];
    const cases: [string, string[]][] = [
      [`at gt "${below}"`, [low, high]],
      [`at lt "${below}"`, []],
      [`at lt "${above}"`, [low, high]],
      [`at ge "${above}"`, []],
      [`at eq "${above}"`, []],
      [`at ne "${below}"`, [low, high]],
      [`at eq "${first}"`, [low]],
      [`list[value lt "${above}"]`, [low, high]],
    ];
    for (const [filter, expected] of cases) {
      expect([filter, (await found(`${urn}:${filter}`)).sort()]).toEqual([filter, expected.toSorted()]);
    }
    await patch(high, { op: 'remove', path: `${urn}:list[value lt "${above}"]` });
    expect(await found(`${urn}:list pr`)).toEqual([low]);
  });
});

describe('filters by the times of a resource', () => {
  it.each(['0001-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00', '0000-01-01T00:00:00Z', '0000-01-01T00:00:00+14:00'])(
    'find resources after %s',
    async (time) => {
      const user = await created({});
      const group = (await harness.project.request('POST', '/Groups', { displayName: 'g' })).body.id;
      for (const name of ['meta.created', 'meta.lastModified']) {
        const after = `${name} gt "${time}" and ${name} ne "${time}"`;
        expect(await found(after)).toEqual([user]);
        expect(await found(`${name} le "${time}" or ${name} eq "${time}"`)).toEqual([]);
        const all = await harness.project.request('POST', '/.search', { filter: after });
        expect(all.body.Resources.map(({ id }: { id: string }) => id).sort()).toEqual([user, group].sort());
        const roles = await harness.project.request('GET', `/Roles?filter=${encodeURIComponent(after)}`);
        expect(roles.status).toBe(200);
      }
    },
  );

  it.each(['9999-12-31T23:59:59.9999999Z', '9999-12-31T23:59:59-01:00'])('find resources before %s', async (time) => {
    const user = await created({});
    expect(await found(`meta.created lt "${time}"`)).toEqual([user]);
    expect(await found(`meta.created ge "${time}"`)).toEqual([]);
  });
});
