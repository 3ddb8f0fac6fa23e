import { system } from '../../src/domain/kernel/actor.ts';
import type { SigninWorld } from '../signin-world.ts';
import type { Answered, Flow } from './fault-lab.ts';
import { answerOf } from './openid-flows.ts';

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const bulkSchema = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

type Given = { user: string; other: string; group: string };

type Request = [method: string, path: string, body?: object];

export function scimFlows(world: SigninWorld): Flow[] {
  const start = async () => {
    await world.begin({ scimEnabled: true });
    const projectId = world.project.id;
    const { token } = await world.app.services.directories.issueScimToken({ projectId, name: 'Directory' }, system);
    const send = async (method: string, path: string, body?: object): Promise<Answered> => {
      const response = await fetch(`${world.app.url}/v1/scim/${projectId}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const answered = await answerOf(response);
      await world.app.services.requestRecords.settled();
      return answered;
    };
    const make = async (path: string, body: object) => {
      const { status, body: text } = await send('POST', path, body);
      if (status !== 201) throw new Error(text);
      return (JSON.parse(text) as { id: string }).id;
    };
    return { send, make };
  };
  const newUser = (name: string) => ({
    schemas: [userSchema],
    userName: `${name}@example.com`,
    externalId: name,
    active: true,
    name: { givenName: 'Ada', familyName: 'Byron' },
    emails: [{ value: `${name}@example.com`, type: 'work', primary: true }],
    phoneNumbers: [{ value: '+12025550143', type: 'mobile' }],
  });
  const flow = (name: string, again: Flow['again'], request: (given: Given) => Request): Flow => ({
    name: `scim: ${name}`,
    ...(again && { again }),
    prepare: async () => {
      const { send, make } = await start();
      const user = await make('/Users', newUser('ada'));
      const other = await make('/Users', { schemas: [userSchema], userName: 'bob@example.com' });
      const group = await make('/Groups', { schemas: [groupSchema], displayName: 'Staff', members: [{ value: user }] });
      const stored = await world.app.services.users.find(world.app.services.db.reader(), world.project.id, user);
      if (stored) await world.app.make.session(world.project, stored);
      const asked = request({ user, other, group });
      return () => send(...asked);
    },
  });
  /** Has the status of its first refused operation. */
  const bulk = (name: string, again: Flow['again'], operations: (given: Given) => object[]): Flow => {
    const requested = (given: Given): Request => [
      'POST',
      '/Bulk',
      { schemas: [bulkSchema], Operations: operations(given) },
    ];
    const { prepare, ...rest } = flow(`Bulk: ${name}`, again, requested);
    const whole = async () => {
      const act = await prepare();
      return async () => {
        const answered = await act();
        if (answered.status !== 200) return answered;
        const { Operations } = JSON.parse(answered.body) as { Operations: { method: string; status: string }[] };
        const isDone = (one: { method: string; status: string }) =>
          one.status.startsWith('2') || (one.method === 'DELETE' && one.status === '404');
        const refused = Operations.find((one) => !isDone(one));
        if (!refused) return answered;
        const headers = new Headers({ 'retry-after': '5' });
        return { ...answered, status: Number(refused.status), headers, isSuccess: false };
      };
    };
    return { ...rest, prepare: whole };
  };
  const patch = (path: string, ...Operations: object[]): Request => [
    'PATCH',
    path,
    { schemas: [patchSchema], Operations },
  ];
  return [
    flow('POST a user', 'refused', () => ['POST', '/Users', { ...newUser('grace'), phoneNumbers: [] }]),
    flow('PUT a user', 'succeeds', ({ user }) => ['PUT', `/Users/${user}`, { ...newUser('ada'), displayName: 'Ada' }]),
    flow('PUT a user, other address', 'succeeds', ({ user }) => ['PUT', `/Users/${user}`, newUser('augusta')]),
    flow('PATCH a user', 'succeeds', ({ user }) =>
      patch(`/Users/${user}`, { op: 'replace', path: 'displayName', value: 'Ada' }),
    ),
    flow('PATCH active', 'succeeds', ({ user }) =>
      patch(`/Users/${user}`, { op: 'replace', path: 'active', value: false }),
    ),
    flow('DELETE a user', 'refused', ({ user }) => ['DELETE', `/Users/${user}`]),
    flow('POST a group', 'anything', ({ user, other }) => [
      'POST',
      '/Groups',
      { schemas: [groupSchema], displayName: 'Crew', members: [{ value: user }, { value: other }] },
    ]),
    flow('PUT a group', 'succeeds', ({ group, other }) => [
      'PUT',
      `/Groups/${group}`,
      { schemas: [groupSchema], displayName: 'Crew', members: [{ value: other }] },
    ]),
    flow('PATCH a group', 'succeeds', ({ group, other }) =>
      patch(
        `/Groups/${group}`,
        { op: 'add', path: 'members', value: [{ value: other }] },
        { op: 'replace', path: 'displayName', value: 'Crew' },
      ),
    ),
    flow('PATCH a member away', 'succeeds', ({ group, user }) =>
      patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${user}"]` }),
    ),
    flow('DELETE a group', 'refused', ({ group }) => ['DELETE', `/Groups/${group}`]),
    bulk('POST a user', 'refused', () => [
      { method: 'POST', path: '/Users', bulkId: 'a', data: { ...newUser('grace'), phoneNumbers: [] } },
    ]),
    bulk('PATCH a group', 'succeeds', ({ group, other }) => [
      {
        method: 'PATCH',
        path: `/Groups/${group}`,
        data: { schemas: [patchSchema], Operations: [{ op: 'add', path: 'members', value: [{ value: other }] }] },
      },
    ]),
    // A deletion whose response was lost is tried again, and finds nothing.
    bulk('DELETE users', 'succeeds', ({ user, other }) =>
      [user, other].map((id) => ({ method: 'DELETE', path: `/Users/${id}` })),
    ),
    flow('GET a user', 'succeeds', ({ user }) => ['GET', `/Users/${user}`]),
    flow('GET users', 'succeeds', () => ['GET', '/Users?filter=userName%20eq%20%22ada@example.com%22']),
  ];
}
