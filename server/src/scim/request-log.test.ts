import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tablesThatHold } from '../../test/rows.ts';
import { type ScimApp, startScimApp } from '../../test/scim-app.ts';
import { RequestRecord } from '../domain/directories/request-record.entity.ts';

let app: ScimApp;
beforeAll(async () => {
  app = await startScimApp();
});
afterAll(async () => {
  await app.close();
  expect(app.bugs).toEqual([]);
});

describe('a queued request record', () => {
  it('is written within about a second', async () => {
    const scim = await app.project();
    await scim.request('GET', '/Users?filter=userName+eq+%22nobody%22');
    const noted = () => app.services.db.reader().find(RequestRecord, { project: scim.id });
    await expect.poll(noted).toHaveLength(1);
  });

  it('loses its texts if it concerns a user who was erased in the meantime', async () => {
    const scim = await app.project();
    const { id } = (await scim.request('POST', '/Users', { userName: 'erase.me@example.org' })).body;
    await scim.request('GET', '/Users?filter=userName+eq+%22ERASE.ME%40example.org%22');
    await scim.request('GET', '/Users/erase.me@example.org');
    await scim.request('DELETE', `/Users/${id}`);
    await scim.request('GET', '/Users?filter=userName+eq+%22somebody.else%22');
    expect(await paths(scim.id)).toEqual([
      ['GET', '/Users?filter=userName eq "somebody.else"', 200],
      ['DELETE', `/Users/${id}`, 204],
      ['GET', '/Users', 404],
      ['GET', '/Users', 200],
      ['POST', '/Users', 201],
    ]);
    expect(await tablesThatHold(app.services.db, ['erase.me'], scim.id)).toEqual([]);
  });
});

describe('a written request record', () => {
  it.each(['1', 'a', 'User'])(
    'of another user keeps its texts when the user with externalId %s is erased',
    async (externalId) => {
      const scim = await app.project();
      const other = { userName: 'user.11@example.org', externalId: '11a', displayName: 'User 1', title: externalId };
      const { id } = (
        await scim.request('POST', '/Users', { userName: 'erase.me@example.org', externalId, displayName: 'User 1' })
      ).body;
      const kept = (await scim.request('POST', '/Users', other)).body;
      await scim.request('GET', `/Users?filter=externalId+eq+%22${externalId}%22`);
      await scim.request('GET', '/Users?filter=externalId+eq+%2211a%22');
      await scim.request('PATCH', `/Users/${kept.id}`, {
        Operations: [{ op: 'replace', path: 'nickName', value: '1' }],
      });
      await scim.request('GET', `/Users?filter=title+eq+%22${externalId}%22+and+active+eq+true`);
      await scim.request('GET', '/Users?startIndex=1&count=11');
      const before = await bodies(scim.id);
      await scim.request('DELETE', `/Users/${id}`);
      const after = await bodies(scim.id);
      expect(after.slice(1)).toHaveLength(before.length);
      const lost = before.filter((record) => !after.some((each) => JSON.stringify(each) === JSON.stringify(record)));
      expect(lost.map(([method, path]) => [method, path])).toEqual([
        ['GET', `/Users?filter=externalId eq "${externalId}"`],
        ['POST', '/Users'],
      ]);
    },
  );

  it.each([
    ['in single quotes', `userName eq 'Erase.Me@example.org'`],
    ['without quotes', 'userName eq erase.me@example.org'],
    ['in a string that is not closed', 'userName eq "erase.me@example.org'],
    ['without spaces', 'userName="erase.me@example.org"'],
    ['as an external id', `externalId eq 'Z-17'`],
    ['with spaces', `userName eq “Erase Me Z-17”`],
    ['as an operator', 'userName erase.me@example.org eq "x"'],
    ['as an attribute', 'Z-17 eq "x"'],
  ])('loses its texts with the user whom a filter that cannot be read names %s', async (_, filter) => {
    const scim = await app.project();
    const user = { userName: 'Erase Me Z-17', externalId: 'Z-17', emails: [{ value: 'erase.me@example.org' }] };
    const { id } = (await scim.request('POST', '/Users', user)).body;
    await scim.request('GET', `/Users?${new URLSearchParams({ filter, count: '1' })}`);
    await scim.request('POST', '/Users/.search', { filter });
    await scim.request('GET', '/Users?filter=userName+eq+%27somebody.else%27');
    const statuses = (await paths(scim.id)).map(([, , status]) => status);
    expect(statuses).toEqual([400, 400, 400, 201]);
    await scim.request('DELETE', `/Users/${id}`);
    expect((await paths(scim.id)).map(([, path]) => path)).toContain(`/Users?filter=userName eq 'somebody.else'`);
    expect(await tablesThatHold(app.services.db, ['erase.me', 'erase me', 'z-17'], scim.id)).toEqual([]);
  });

  it('loses its texts with any user that it names: members of groups, results of a search, Bulk, a refused user', async () => {
    const scim = await app.project();
    const { id } = (await scim.request('POST', '/Users', { userName: 'erase.me@example.org', nickName: 'Erasmus' }))
      .body;
    const group = (
      await scim.request('POST', '/Groups', { displayName: 'All', members: [{ value: id, display: 'Erase Me' }] })
    ).body;
    const members = { op: 'add', path: 'members', value: [{ value: id, display: 'Erase Me' }] };
    await scim.request('PATCH', `/Groups/${group.id}`, { Operations: [members] });
    await scim.request('PATCH', `/Groups/${group.id}`, {
      Operations: [{ op: 'remove', path: `members[value eq "${id}"]` }],
    });
    await scim.request('GET', '/Users?filter=userName+sw+%22erase.m%22');
    await scim.request('POST', '/Users/.search', { filter: 'nickName eq "Erasmus"' });
    await scim.request('POST', '/Bulk', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      Operations: [
        {
          method: 'PATCH',
          path: `/Users/${id}`,
          data: { Operations: [{ op: 'replace', path: 'active', value: true }] },
        },
      ],
    });
    await scim.request('POST', '/Users', { userName: 'ERASE.me@example.org', displayName: 'Erase Me' });
    await scim.request('POST', '/Users', { userName: 'free', emails: [{ value: 'Erase.Me@example.org' }] });
    await app.services.requestRecords.settled();
    await scim.request('DELETE', `/Users/${id}`);
    const records = await bodies(scim.id);
    expect(records).toHaveLength(10);
    expect(await tablesThatHold(app.services.db, ['erase.m', 'Erase Me', 'Erasmus'], scim.id)).toEqual([]);
    expect(JSON.stringify(records).toLowerCase()).not.toContain('erase');
  });
});

async function paths(projectId: string) {
  const records = await app.services.requestRecords.recent(projectId, 20);
  return records.map(({ method, path, status }) => [method, path, status]);
}

async function bodies(projectId: string) {
  const records = await app.services.requestRecords.recent(projectId, 20);
  return records.map(({ method, path, requestBody, responseBody }) => [method, path, requestBody, responseBody]);
}

describe('the record of requests', () => {
  it('keeps the newest 200 requests and responses for seven days, without secrets', async () => {
    const scim = await app.project();
    const { requestRecords, directories } = app.services;
    const sent = {
      userName: 'inspected',
      password: 'hunter2hunter2',
      title: 'x'.repeat(8000),
      nickName: 'y'.repeat(8000),
    };
    const { id } = (await scim.request('POST', '/Users?attributes=userName', sent)).body;
    await scim.request('GET', '/Users?filter=nonsense');
    await requestRecords.settled();
    const records = await requestRecords.recent(scim.id, 10);
    expect(records).toMatchObject([
      { method: 'GET', path: '/Users?filter=nonsense', status: 400, scimType: 'invalidFilter', tokenName: 'Directory' },
      { method: 'POST', path: '/Users?attributes=userName', status: 201, resourceId: id, detail: null },
    ]);
    expect(records[0]?.detail).toContain('cannot be read');
    expect(records[1]?.requestBody).toContain('inspected');
    expect(records[1]?.requestBody?.length).toBeLessThan(9000);
    expect(JSON.stringify(records)).not.toContain('hunter2');
    expect(JSON.stringify(records)).not.toContain(scim.token.slice(8));
    const [token] = await directories.scimTokens(scim.id);
    expect(token).toMatchObject({ lastUsedAt: app.clock.now(), lastUsedAddress: '127.0.0.1' });

    const odd = { Operations: [{ op: 'add', path: 'urn:example:hr:2.0:User:badge', value: 7 }] };
    expect((await scim.request('PATCH', `/Users/${id}`, odd)).status).toBe(200);
    await requestRecords.settled();
    const [ignored] = await requestRecords.recent(scim.id, 1);
    expect(ignored?.ignored).toEqual(['urn:example:hr:2.0:User:badge']);

    for (let i = 0; i < 210; i++) await scim.request('GET', '/Users?count=0');
    await requestRecords.settled();
    expect(await requestRecords.recent(scim.id, 500)).toHaveLength(200);
    app.clock.turn(7 * 24 * 3600 + 1);
    await requestRecords.sweep();
    expect(await requestRecords.recent(scim.id, 500)).toEqual([]);
  });
});
