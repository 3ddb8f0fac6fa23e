/** A token that ends during a request: the rest of the request is refused (decisions/0086). */

import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { changed, rows } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';

const bulkRequest = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';

let app: ScimApp;
beforeAll(async () => {
  app = await startScimApp();
});
afterEach(() => {
  Reflect.deleteProperty(app.services.directories, 'authenticate');
});
afterAll(() => app.close());

/** Resolves after the next successful token check. */
function authenticated(): Promise<void> {
  const { directories } = app.services;
  const ask = directories.authenticate.bind(directories);
  return new Promise((resolve) => {
    directories.authenticate = async (...of) => {
      const directory = await ask(...of);
      resolve();
      return directory;
    };
  });
}

interface Begun {
  /** Sends the rest, and returns the status. */
  end(): Promise<number>;
}

/** Sends a request's head and the first bytes of its body. */
function begin(project: ScimProject, method: string, path: string, body: object): Begun {
  const { hostname, port, pathname } = new URL(`${project.baseUrl}${path}`);
  const text = JSON.stringify(body);
  const head = [
    `${method} ${pathname} HTTP/1.1`,
    'Host: id.example.com',
    'Connection: close',
    `Authorization: Bearer ${project.token}`,
    'Content-Type: application/scim+json',
    `Content-Length: ${text.length}`,
  ];
  const socket: Socket = connect(Number(port), hostname);
  socket.write(`${head.join('\r\n')}\r\n\r\n${text.slice(0, 5)}`);
  const answered = new Promise<number>((resolve, reject) => {
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(Number(answer.split(' ')[1])));
  });
  return {
    end: () => {
      socket.write(text.slice(5));
      return answered;
    },
  };
}

const patch = { Operations: [{ op: 'replace', path: 'displayName', value: 'changed' }] };
const slow: readonly (readonly [method: string, path: string, body: object])[] = [
  ['POST', '/Users', { userName: 'late' }],
  ['PUT', '/Users/:user', { userName: 'there', displayName: 'changed' }],
  ['PATCH', '/Users/:user', patch],
  ['POST', '/Users/.search', { filter: 'userName eq "there"' }],
  ['POST', '/.search', { filter: 'userName eq "there"' }],
  ['POST', '/Groups', { displayName: 'late' }],
  ['PUT', '/Groups/:group', { displayName: 'changed' }],
  ['PATCH', '/Groups/:group', patch],
  ['POST', '/Groups/.search', { count: 10 }],
  [
    'POST',
    '/Bulk',
    {
      schemas: [bulkRequest],
      Operations: [{ method: 'POST', path: '/Users', bulkId: 'a', data: { userName: 'late' } }],
    },
  ],
];

describe('a slow body', () => {
  it.each(slow)('refuses %s %s if the token ended meanwhile', async (method, path, body) => {
    const project = await app.project();
    const user = (await project.request('POST', '/Users', { userName: 'there' })).body.id as string;
    const group = (await project.request('POST', '/Groups', { displayName: 'there' })).body.id as string;
    const live = authenticated();
    const request = begin(project, method, path.replace(':user', user).replace(':group', group), body);
    await live;
    await changed(app.services.db, 'update scim_tokens set revoked_at = ? where project_id = ?', [
      app.clock.now(),
      project.id,
    ]);
    expect(await request.end()).toBe(401);
    const left = await rows<{ name: string }>(
      app.services.db,
      `select user_name || ' ' || version as name from users where project_id = ?
       union all select display_name || ' ' || version from groups where project_id = ?`,
      [project.id, project.id],
    );
    expect(left.map(({ name }) => name)).toEqual(['there 1', 'there 1']);
    const recorded = await app.services.requestRecords.recent(project.id, 10);
    expect(recorded.map(({ status, requestBody }) => [status, requestBody !== null])).toEqual([
      [401, false],
      [201, true],
      [201, true],
    ]);
  });
});

describe('a long Bulk', () => {
  it('stops within a second after its token ends', async () => {
    const project = await app.project();
    const { admissions, db } = app.services;
    const provision = admissions.provision.bind(admissions);
    let made = 0;
    admissions.provision = async (...of) => {
      const user = await provision(...of);
      made += 1;
      if (made === 5) {
        await changed(db, 'update scim_tokens set revoked_at = ? where project_id = ?', [app.clock.now(), project.id]);
      }
      app.clock.turn(0.2);
      return user;
    };
    const operations = Array.from({ length: 50 }, (_, n) => ({
      ...{ method: 'POST', path: '/Users', bulkId: `u${n}`, data: { userName: `u${n}` } },
    }));
    const answer = await project.request('POST', '/Bulk', { schemas: [bulkRequest], Operations: operations });
    Reflect.deleteProperty(admissions, 'provision');
    expect([answer.status, made]).toEqual([401, 5]);
    const [record] = await app.services.requestRecords.recent(project.id, 1);
    expect(record).toMatchObject({ method: 'POST', path: '/Bulk', status: 401 });
  });
});

it('reports no unexpected error', () => expect(app.bugs).toEqual([]));
