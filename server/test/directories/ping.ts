import {
  type DirectoryClient,
  foundId,
  groupUrn,
  idOf,
  inferred,
  type Person,
  patch,
  percent,
  userUrn,
} from './directory.ts';

/** Create, update, disable and delete; core and enterprise attributes; groups; a custom filter expression. */
const features =
  'No request is published; https://docs.pingidentity.com/pingone/integrations/p1_scim_provisioning_features.html has the features.';

const user = (person: Person, active: boolean) => ({
  schemas: [userUrn],
  userName: person.userName,
  externalId: person.externalId,
  name: {
    formatted: `${person.givenName} ${person.familyName}`,
    familyName: person.familyName,
    givenName: person.givenName,
  },
  active,
  emails: [{ type: 'work', value: person.userName, primary: true }],
  title: person.title,
  userType: 'Employee',
});

export const ping: DirectoryClient = {
  name: 'PingOne and PingFederate',
  sendsExternalId: { groups: false },
  connect: inferred(features, async (send) => {
    await send({ method: 'GET', path: '/ServiceProviderConfig' });
  }),
  findUser: inferred(features, async (send, { userName }) =>
    foundId(await send({ method: 'GET', path: `/Users?filter=${percent('userName', userName, 'Eq')}` })),
  ),
  createUser: inferred(features, async (send, person) =>
    idOf(await send({ method: 'POST', path: '/Users', body: user(person, true) })),
  ),
  updateUser: inferred(features, async (send, person, id) => {
    await send({ method: 'PUT', path: `/Users/${id}`, body: user(person, true) });
  }),
  setActive: inferred(features, async (send, _person, id, active) => {
    await send({
      method: 'PATCH',
      path: `/Users/${id}`,
      body: patch({ op: 'replace', path: 'active', value: active }),
    });
  }),
  deleteUser: inferred(features, async (send, id) => {
    await send({ method: 'DELETE', path: `/Users/${id}` });
  }),
  findGroup: inferred(features, async (send, { name }) =>
    foundId(await send({ method: 'GET', path: `/Groups?filter=${percent('displayName', name, 'Eq')}` })),
  ),
  createGroup: inferred(features, async (send, { name }) =>
    idOf(
      await send({ method: 'POST', path: '/Groups', body: { schemas: [groupUrn], displayName: name, members: [] } }),
    ),
  ),
  renameGroup: inferred(features, async (send, { name }, id, members) => {
    const body = { schemas: [groupUrn], displayName: name, members: members.map((value) => ({ value, type: 'User' })) };
    await send({ method: 'PUT', path: `/Groups/${id}`, body });
  }),
  addMember: inferred(features, async (send, _team, id, member) => {
    const value = [{ value: member, type: 'User', $ref: `https://elsewhere.example.com/Users/${member}` }];
    await send({ method: 'PATCH', path: `/Groups/${id}`, body: patch({ op: 'add', path: 'members', value }) });
  }),
  removeMember: inferred(features, async (send, _team, id, member) => {
    const body = patch({ op: 'remove', path: `members[value eq "${member}" and type eq "User"]` });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  deleteGroup: inferred(features, async (send, id) => {
    await send({ method: 'DELETE', path: `/Groups/${id}` });
  }),
};
