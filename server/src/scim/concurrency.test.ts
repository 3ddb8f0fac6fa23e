import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScimApp, startScimApp } from '../../test/scim-app.ts';

let app: ScimApp;
beforeAll(async () => {
  app = await startScimApp();
});
afterAll(async () => {
  await app.close();
  expect(app.bugs).toEqual([]);
});

describe('concurrent requests', () => {
  it('creates one user in fifty identical POSTs, and returns 409 to the others', async () => {
    const scim = await app.project();
    const body = { userName: 'race', emails: [{ value: 'race@example.com', primary: true }] };
    const replies = await Promise.all(Array.from({ length: 50 }, () => scim.request('POST', '/Users', body)));
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array(49).fill(409)]);
  });

  it('loses no concurrent PATCH of a user or group', async () => {
    const scim = await app.project();
    const { id } = (await scim.request('POST', '/Users', { userName: 'patched' })).body;
    const addRole = (n: number) => ({ Operations: [{ op: 'add', path: 'roles', value: [{ value: `r${n}` }] }] });
    const patched = await Promise.all(
      Array.from({ length: 40 }, (_, n) => scim.request('PATCH', `/Users/${id}`, addRole(n))),
    );
    expect(new Set(patched.map(({ status }) => status))).toEqual(new Set([200]));
    const user = (await scim.request('GET', `/Users/${id}`)).body;
    expect(user.roles).toHaveLength(40);
    expect(user.meta.version).toBe('W/"41"');
    const events = await app.services.db
      .reader()
      .execute<object[]>(`select 1 from audit_log where subject_id = ? and type = 'user.updated'`, [id]);
    expect(events).toHaveLength(40);
    const numbers = Array.from({ length: 20 }, (_, n) => n);

    const group = (await scim.request('POST', '/Groups', { displayName: 'g' })).body.id;
    const members = await Promise.all(
      numbers.map(async (n) => (await scim.request('POST', '/Users', { userName: `m${n}` })).body.id as string),
    );
    const add = (value: string) => ({ Operations: [{ op: 'add', path: 'members', value: [{ value }] }] });
    await Promise.all(members.map((member) => scim.request('PATCH', `/Groups/${group}`, add(member))));
    expect((await scim.request('GET', `/Groups/${group}`)).body.members).toHaveLength(20);

    const mixed = members.flatMap((member) => [
      scim.request('DELETE', `/Users/${member}`),
      scim.request('PATCH', `/Groups/${group}`, {
        Operations: [{ op: 'replace', path: 'members', value: [{ value: id }] }],
      }),
      scim.request('PATCH', `/Groups/${group}`, add(member)),
    ]);
    const statuses = new Set((await Promise.all(mixed)).map(({ status }) => status));
    for (const status of statuses) expect([200, 204, 400]).toContain(status);
    const left = (await scim.request('GET', `/Groups/${group}`)).body.members as { value: string }[];
    expect(left.filter(({ value }) => members.includes(value))).toEqual([]);
  });

  it('gives an address claimed by two users to one, and does not find the old address', async () => {
    const scim = await app.project();
    const make = async (name: string) =>
      (await scim.request('POST', '/Users', { userName: name, emails: [{ value: `${name}@example.com` }] })).body.id;
    const ids = [await make('one'), await make('two')];
    const want = { Operations: [{ op: 'replace', path: 'emails', value: [{ value: 'wanted@example.com' }] }] };
    const replies = await Promise.all(ids.map((id) => scim.request('PATCH', `/Users/${id}`, want)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    const winner = replies[0]?.status === 200 ? 'one' : 'two';
    const idsBy = async (address: string) => {
      const { body } = await scim.request('GET', `/Users?filter=emails.value+eq+%22${address}%22`);
      return (body.Resources as { userName: string }[]).map(({ userName }) => userName);
    };
    expect(await idsBy('wanted@example.com')).toEqual([winner]);
    expect(await idsBy(`${winner}@example.com`)).toEqual([]);
    expect(await idsBy(`${winner === 'one' ? 'two' : 'one'}@example.com`)).toHaveLength(1);
  });

  it('finds users by the version in a response, even if they are in a group', async () => {
    const scim = await app.project();
    const { id } = (await scim.request('POST', '/Users', { userName: 'member' })).body;
    await scim.request('POST', '/Users', { userName: 'other' });
    await scim.request('POST', '/Groups', { displayName: 'G', members: [{ value: id }] });
    const add = { Operations: [{ op: 'add', path: 'title', value: 'T' }] };
    const { meta } = (await scim.request('PATCH', `/Users/${id}`, add)).body;
    expect(meta.version).toMatch(/^W\/"\d+-[\w-]+"$/);
    for (const [comparison, ids] of [
      ['eq', [id]],
      ['ne', [expect.any(String)]],
    ] as const) {
      const filter = `meta.version ${comparison} ${JSON.stringify(meta.version)}`;
      const { body } = await scim.request('POST', '/Users/.search', { filter });
      expect(body.Resources.map((user: { id: string }) => user.id)).toEqual(ids);
    }
  });

  it('applies one of two PATCHes with the same If-Match', async () => {
    const scim = await app.project();
    const { id, meta } = (await scim.request('POST', '/Users', { userName: 'etag' })).body;
    const write = (value: string) =>
      scim.request(
        'PATCH',
        `/Users/${id}`,
        { Operations: [{ op: 'add', path: 'title', value }] },
        {
          headers: { 'if-match': meta.version },
        },
      );
    const replies = await Promise.all(['a', 'b', 'c', 'd'].map(write));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  });
});
