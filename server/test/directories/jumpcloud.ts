import {
  type DirectoryClient,
  displayName,
  enterpriseUrn,
  foundId,
  fromStandard,
  groupUrn,
  idOf,
  inferred,
  type Person,
  patch,
  percent,
  published,
  reported,
  userUrn,
} from './directory.ts';

/** "A test user and test group are created to test the integration. Both will be deleted." */
const guide =
  'https://jumpcloud.com/support/provision-and-manage-users-and-groups-in-apps-using-custom-scim-identity-management-integration';
/** Members are named in the value, also to remove them. */
const members = 'https://app.uni-moni.com/en/kb/sso-setup-jumpcloud';

const user = (person: Person) => ({
  schemas: [userUrn, enterpriseUrn],
  userName: person.userName,
  externalId: person.externalId,
  displayName: displayName(person),
  name: { givenName: person.givenName, familyName: person.familyName },
  emails: [{ value: person.userName, type: 'work', primary: true }],
  title: person.title,
  active: true,
});

const test: Person = {
  externalId: 'test',
  userName: 'test_a1b2c3@jumpcloud.com',
  givenName: 'Test',
  familyName: 'User',
  title: '',
};

export const jumpcloud: DirectoryClient = {
  name: 'JumpCloud',
  sendsExternalId: { groups: false },
  connect: published(guide, async (send) => {
    const id = idOf(await send({ method: 'POST', path: '/Users', body: user(test) }));
    await send({ method: 'GET', path: `/Users/${id}` });
    await send({ method: 'PUT', path: `/Users/${id}`, body: { ...user(test), active: false } });
    const body = { schemas: [groupUrn], displayName: 'test-group', members: [{ value: id }] };
    const group = idOf(await send({ method: 'POST', path: '/Groups', body }));
    await send({ method: 'DELETE', path: `/Groups/${group}` });
    await send({ method: 'DELETE', path: `/Users/${id}` });
  }),
  findUser: inferred(reported, async (send, { userName }) =>
    foundId(await send({ method: 'GET', path: `/Users?filter=${percent('userName', userName)}` })),
  ),
  createUser: inferred(fromStandard, async (send, person) =>
    idOf(await send({ method: 'POST', path: '/Users', body: user(person) })),
  ),
  updateUser: inferred(reported, async (send, person, id) => {
    const replace = (path: string, value: unknown) => ({ op: 'replace', path, value });
    const body = patch(
      replace('userName', person.userName),
      replace('displayName', displayName(person)),
      replace('name.givenName', person.givenName),
      replace('name.familyName', person.familyName),
      replace('emails[type eq "work"].value', person.userName),
      replace('title', person.title),
      replace('addresses[type eq "work"].country', 'US'),
      replace(`${enterpriseUrn}:costCenter`, '7'),
    );
    await send({ method: 'PATCH', path: `/Users/${id}`, body });
  }),
  setActive: inferred(fromStandard, async (send, _person, id, active) => {
    await send({
      method: 'PATCH',
      path: `/Users/${id}`,
      body: patch({ op: 'replace', path: 'active', value: active }),
    });
  }),
  deleteUser: published(guide, async (send, id) => {
    await send({ method: 'DELETE', path: `/Users/${id}` });
  }),
  findGroup: inferred(fromStandard, async (send, { name }) =>
    foundId(await send({ method: 'GET', path: `/Groups?filter=${percent('displayName', name)}` })),
  ),
  createGroup: inferred(fromStandard, async (send, { name }) =>
    idOf(await send({ method: 'POST', path: '/Groups', body: { schemas: [groupUrn], displayName: name } })),
  ),
  renameGroup: inferred(fromStandard, async (send, { name }, id) => {
    const body = patch({ op: 'replace', path: 'displayName', value: name });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  addMember: published(members, async (send, _team, id, member) => {
    const add = { op: 'add', path: 'members', value: [{ value: member }] };
    await send({ method: 'PATCH', path: `/Groups/${id}`, body: patch(add) });
    // Sent again if the first response was late.
    await send({ method: 'PATCH', path: `/Groups/${id}`, body: patch(add, add) });
  }),
  removeMember: published(members, async (send, _team, id, member) => {
    const body = patch({ op: 'remove', path: 'members', value: [{ value: member }] });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  deleteGroup: published(guide, async (send, id) => {
    await send({ method: 'DELETE', path: `/Groups/${id}` });
  }),
};
