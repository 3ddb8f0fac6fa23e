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
  userUrn,
} from './directory.ts';

/** Rippling checks by externalId before it creates. */
const byExternalId = 'https://github.com/better-auth/better-auth/pull/10420';
/** externalId, emails and names as attributes; groups, and their PATCH and deletion. */
const setup =
  'Named, but not shown, by https://workos.com/docs/integrations/rippling-scim/2-create-your-rippling-application';
/** "Rippling may retry failed SCIM requests … duplicate POSTs for the same externalId." */
const retries = 'https://mcp.waymark.network/r/41cf6d93-f8d6-4168-8143-c0abaf3de8a0';

/** Values that an employee does not have are null. */
const user = (person: Person, active: boolean) => ({
  schemas: [userUrn, enterpriseUrn],
  externalId: person.externalId,
  userName: person.userName,
  name: { givenName: person.givenName, familyName: person.familyName, middleName: null, formatted: null },
  displayName: displayName(person),
  emails: [
    { value: person.userName, type: 'work', primary: true },
    { value: null, type: 'home', primary: false },
  ],
  phoneNumbers: [{ value: null, type: 'mobile' }],
  addresses: [
    {
      type: 'work',
      streetAddress: null,
      locality: null,
      region: null,
      postalCode: null,
      country: null,
      primary: null,
    },
  ],
  title: person.title,
  nickName: null,
  photos: null,
  active,
  [enterpriseUrn]: { department: null, employeeNumber: null, manager: { value: null, displayName: null } },
});

export const rippling: DirectoryClient = {
  name: 'Rippling',
  sendsExternalId: { groups: false },
  connect: inferred(fromStandard, async (send) => {
    await send({ method: 'GET', path: '/ServiceProviderConfig' });
    await send({ method: 'GET', path: '/Users?startIndex=1&count=1' });
  }),
  findUser: published(byExternalId, async (send, { externalId }) =>
    foundId(await send({ method: 'GET', path: `/Users?filter=${percent('externalId', externalId)}` })),
  ),
  createUser: published(retries, async (send, person) => {
    const created = idOf(await send({ method: 'POST', path: '/Users', body: user(person, true) }));
    await send({ method: 'POST', path: '/Users', body: user(person, true), status: 409 });
    return created;
  }),
  updateUser: inferred('Nulls for values that an employee does not have.', async (send, person, id) => {
    await send({ method: 'PUT', path: `/Users/${id}`, body: { ...user(person, true), id } });
  }),
  setActive: published(retries, async (send, _person, id, active) => {
    const body = patch(
      { op: 'replace', path: 'active', value: active },
      { op: 'replace', path: 'nickName', value: null },
    );
    await send({ method: 'PATCH', path: `/Users/${id}`, body });
  }),
  deleteUser: published(retries, async (send, id) => {
    await send({ method: 'DELETE', path: `/Users/${id}` });
  }),
  findGroup: inferred(fromStandard, async (send, { name }) =>
    foundId(await send({ method: 'GET', path: `/Groups?filter=${percent('displayName', name)}` })),
  ),
  createGroup: inferred(fromStandard, async (send, { name }) => {
    const body = { schemas: [groupUrn], displayName: name, externalId: null, members: [] };
    return idOf(await send({ method: 'POST', path: '/Groups', body }));
  }),
  renameGroup: inferred(fromStandard, async (send, { name }, id) => {
    const body = patch({ op: 'replace', path: 'displayName', value: name });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  addMember: inferred(setup, async (send, _team, id, member) => {
    const value = [{ value: member, display: null, $ref: null, type: null }];
    await send({ method: 'PATCH', path: `/Groups/${id}`, body: patch({ op: 'add', path: 'members', value }) });
  }),
  removeMember: inferred(setup, async (send, _team, id, member) => {
    const body = patch({ op: 'remove', path: `members[value eq "${member}"]` });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  deleteGroup: inferred(setup, async (send, id) => {
    await send({ method: 'DELETE', path: `/Groups/${id}` });
  }),
};
