/** Records of requests keep no secrets, under any name in the request. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../../test/scim-app.ts';

const secret = 'S3cretValue';
const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
const bulkRequest = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';

let app: ScimApp;
let project: ScimProject;
let user: string;
beforeAll(async () => {
  app = await startScimApp();
});
beforeEach(async () => {
  project = await app.project();
  user = (await project.request('POST', '/Users', { userName: 'ada' })).body.id;
});
afterAll(async () => {
  expect(app.bugs).toEqual([]);
  await app.close();
});

async function recorded(): Promise<string[]> {
  await app.services.requestRecords.settled();
  const found = await rows<{ row: string }>(
    app.services.db,
    'select scim_request_records::text as row from scim_request_records where project_id = ?',
    [project.id],
  );
  return found.map(({ row }) => row);
}

const operation = (more: object, op = 'replace') => ({ Operations: [{ op, ...more }] });
const bulk = (more: object) => ({ schemas: [bulkRequest], Operations: [more] });
const named = { userName: 'ada', password: secret };

describe('a record keeps no secret', () => {
  it.each<[string, string, object]>([
    ['by its name', 'PUT /Users/:id', named],
    ['by its name in another case', 'PUT /Users/:id', { userName: 'ada', PassWord: secret }],
    ['by its URN', 'PUT /Users/:id', { userName: 'ada', [`${core}:password`]: secret }],
    ['by a member of its schema', 'PUT /Users/:id', { userName: 'ada', [core]: { password: secret } }],
    ['with parts', 'PUT /Users/:id', { userName: 'ada', password: { value: secret } }],
    ['by a name with a dot', 'PUT /Users/:id', { userName: 'ada', 'password.value': secret }],
    ['by a name with a filter', 'PUT /Users/:id', { userName: 'ada', 'password[type eq "x"].value': secret }],
    ['in the filter of a name', 'PUT /Users/:id', { userName: 'ada', [`x[password eq "${secret}"]`]: 'x' }],
    ['in the filter of its name', 'PUT /Users/:id', { userName: 'ada', [`password[value eq "${secret}"]`]: 'x' }],
    ['in a new user', 'POST /Users', { userName: 'eve', [`${core}:PASSWORD`]: secret }],
    ['by a path', 'PATCH /Users/:id', operation({ path: 'password', value: secret })],
    ['by a path in another case', 'PATCH /Users/:id', operation({ Path: ' PASSWORD ', Value: secret })],
    ['by the URN in a path', 'PATCH /Users/:id', operation({ path: `${core}:password`, value: secret })],
    ['by the schema in a path', 'PATCH /Users/:id', operation({ path: core, value: { password: secret } })],
    ['by an unknown path', 'PATCH /Users/:id', operation({ path: 'urn:acme:1.0:User:secret', value: secret })],
    ['by a path with a part', 'PATCH /Users/:id', operation({ path: 'password.x', value: secret })],
    ['by a path with a filter', 'PATCH /Users/:id', operation({ path: 'password[type eq "x"]', value: [secret] })],
    ['in the filter of a path', 'PATCH /Users/:id', operation({ path: `emails[password eq "${secret}"]`, value: 'x' })],
    ['without a path', 'PATCH /Users/:id', operation({ value: { password: secret } }, 'add')],
    ['by its URN without a path', 'PATCH /Users/:id', operation({ value: { [`${core}:password`]: secret } }, 'add')],
    ['in Bulk', 'POST /Bulk', bulk({ method: 'PUT', path: '/Users/:id', data: named })],
    ['in Bulk in another case', 'POST /Bulk', bulk({ Method: 'PUT', Path: '/Users/:id', Data: [named, secret] })],
    ['in a path of Bulk', 'POST /Bulk', bulk({ method: 'DELETE', path: `/Users?filter=password eq "${secret}"` })],
    ['in the filter of a search', 'POST /Users/.search', { filter: `password eq "${secret}"` }],
    ['in the filter of a search of all', 'POST /.search', { Filter: `userName pr and Password eq "${secret}"` }],
  ])('%s', async (_, request, body) => {
    const [method = '', path = ''] = request.split(' ');
    const text = JSON.stringify(body).replaceAll(':id', user);
    await project.request(method, path.replace(':id', user), undefined, { raw: text });
    const records = await recorded();
    expect(records).toHaveLength(2);
    expect(records.join('\n')).not.toContain(secret);
  });

  it.each([
    ['in a filter', `filter=${encodeURIComponent(`password eq "${secret}"`)}`],
    ['by its URN in a filter', `filter=${encodeURIComponent(`not (${core}:Password sw "${secret}")`)}`],
    ['behind a question mark', `filter=${encodeURIComponent(`title eq "?" or password eq "${secret}"`)}`],
    ['next to text that cannot be decoded', `x=%FF&filter=%FF%20p%61ssword%20eq%20%22${secret}%22`],
  ])('of a query, %s', async (_, query) => {
    await project.request('GET', `/Users?${query}`);
    expect((await recorded()).join('\n')).not.toContain(secret);
  });

  it('and keeps other content of a request', async () => {
    await project.request('PATCH', `/Users/${user}`, operation({ path: 'password', value: secret }));
    await project.request('PATCH', `/Users/${user}`, operation({ path: 'title', value: 'Token Manager' }));
    await project.request('GET', `/Users?filter=${encodeURIComponent('title eq "?" and userName eq "ada"')}`);
    const kept = (await recorded()).join('\n');
    for (const text of ['path"":""password', 'Token Manager', 'userName eq ""ada']) {
      expect(kept.replaceAll('\\', '')).toContain(text);
    }
  });

  it('and names the user whom a query compares behind a question mark', async () => {
    await project.request('GET', `/Users?filter=${encodeURIComponent('title eq "?" or userName eq "eve"')}`);
    await recorded();
    const [record] = await rows<{ concerns: string[] }>(
      app.services.db,
      `select concerns from scim_request_records where project_id = ? and method = 'GET'`,
      [project.id],
    );
    expect(record?.concerns).toContain('eve');
  });
});
