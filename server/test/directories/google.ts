import {
  type DirectoryClient,
  displayName,
  foundId,
  fromStandard,
  groupUrn,
  idOf,
  inferred,
  type Person,
  patch,
  percent,
  plus,
  published,
  reported,
  userUrn,
} from './directory.ts';

/** Users are suspended and deleted after a number of days; the two numbers are independent. */
const help =
  'No request is published; https://workspaceupdates.googleblog.com/2016/07/automatically-provision-users-with-scim.html has the order.';
/** The client that copies Google's users and groups to AWS. */
const ssosync = 'https://github.com/awslabs/ssosync/blob/master/internal/aws/client.go';
const ssosyncUser = 'https://github.com/awslabs/ssosync/blob/master/internal/aws/users.go';

const groupsBySsosync = {
  findGroup: published(ssosync, async (send, { name }) =>
    foundId(await send({ method: 'GET', path: `/Groups?filter=${plus('displayName', name)}` })),
  ),
  createGroup: published(ssosync, async (send, { name }) => {
    const body = { schemas: [groupUrn], displayName: name, members: [] };
    return idOf(await send({ method: 'POST', path: '/Groups', body }));
  }),
  // Not in ssosync, which creates a new group for a new name.
  renameGroup: inferred(fromStandard, async (send, { name }, id) => {
    const body = patch({ op: 'replace', value: { displayName: name } });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  addMember: published(ssosync, async (send, _team, id, member) => {
    const filter = encodeURIComponent(`id eq "${id}" and members eq "${member}"`).replaceAll('%20', '+');
    const { body } = await send({ method: 'GET', path: `/Groups?filter=${filter}` });
    if (body.totalResults > 0) throw new Error('the user is in the group already');
    const change = patch({ op: 'add', path: 'members', value: [{ value: member }] });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body: change });
  }),
  removeMember: published(ssosync, async (send, _team, id, member) => {
    const body = patch({ op: 'remove', path: 'members', value: [{ value: member }] });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  deleteGroup: published(ssosync, async (send, id) => {
    await send({ method: 'DELETE', path: `/Groups/${id}` });
  }),
} satisfies Partial<DirectoryClient>;

const user = (person: Person, active: boolean) => ({
  schemas: [userUrn],
  userName: person.userName,
  externalId: person.externalId,
  name: { givenName: person.givenName, familyName: person.familyName, formatted: displayName(person) },
  emails: [{ value: person.userName, type: 'work', primary: true }],
  phoneNumbers: [{ value: '+16502530000', type: 'work' }],
  title: person.title,
  active,
});

/** Automated provisioning of Google Workspace. */
export const google: DirectoryClient = {
  ...groupsBySsosync,
  name: 'Google Workspace',
  sendsExternalId: { groups: false },
  connect: inferred('It builds its mapping from the schemas.', async (send) => {
    await send({ method: 'GET', path: '/Schemas' });
    await send({ method: 'GET', path: '/Users?startIndex=1&count=1' });
  }),
  findUser: inferred(fromStandard, async (send, { userName }) => {
    const path = `/Users?filter=${percent('userName', userName)}&startIndex=1&count=1`;
    return foundId(await send({ method: 'GET', path }));
  }),
  createUser: inferred(fromStandard, async (send, person) =>
    idOf(await send({ method: 'POST', path: '/Users', body: user(person, true) })),
  ),
  updateUser: inferred(fromStandard, async (send, person, id) => {
    const { schemas: _, active: __, ...value } = user(person, true);
    await send({ method: 'PATCH', path: `/Users/${id}`, body: patch({ op: 'replace', value }) });
  }),
  setActive: inferred(reported, async (send, _person, id, active) => {
    const body = patch({ op: 'replace', path: 'active', value: String(active) });
    await send({ method: 'PATCH', path: `/Users/${id}`, body });
  }),
  deleteUser: inferred(help, async (send, id) => {
    await send({ method: 'PATCH', path: `/Users/${id}`, body: patch({ op: 'replace', value: { active: false } }) });
    await send({ method: 'DELETE', path: `/Users/${id}` });
    // Google schedules the suspension separately, so it can follow the deletion.
    const late = patch({ op: 'replace', path: 'active', value: 'false' });
    await send({ method: 'PATCH', path: `/Users/${id}`, body: late, status: 404 });
  }),
};

const bySsosync = (person: Person, active: boolean, id?: string) => ({
  schemas: [userUrn],
  ...(id === undefined ? {} : { id }),
  userName: person.userName,
  name: { familyName: person.familyName, givenName: person.givenName },
  displayName: displayName(person),
  active,
  emails: [{ value: person.userName, type: 'work', primary: true }],
  addresses: [{ type: 'work' }],
  title: person.title,
});

/** ssosync: no Accept header, no externalId, users by PUT. */
export const googleBySsosync: DirectoryClient = {
  ...groupsBySsosync,
  name: 'Google Workspace through ssosync',
  headers: { 'content-type': 'application/scim+json', accept: '*/*' },
  sendsExternalId: { users: false, groups: false },
  connect: published(ssosync, async (send) => {
    await send({ method: 'GET', path: '/Users' });
  }),
  findUser: published(ssosync, async (send, { userName }) =>
    foundId(await send({ method: 'GET', path: `/Users?filter=${plus('userName', userName)}` })),
  ),
  createUser: published(ssosyncUser, async (send, person) =>
    idOf(await send({ method: 'POST', path: '/Users', body: bySsosync(person, true) })),
  ),
  updateUser: published(ssosyncUser, async (send, person, id) => {
    await send({ method: 'PUT', path: `/Users/${id}`, body: bySsosync(person, true, id) });
  }),
  setActive: published(ssosyncUser, async (send, person, id, active) => {
    await send({ method: 'PUT', path: `/Users/${id}`, body: bySsosync(person, active, id) });
  }),
  deleteUser: published(ssosync, async (send, id) => {
    await send({ method: 'DELETE', path: `/Users/${id}` });
  }),
};
