import {
  type DirectoryClient,
  displayName,
  enterpriseUrn,
  foundId,
  groupUrn,
  idOf,
  inferred,
  type Person,
  patch,
  plus,
  published,
  userUrn,
} from './directory.ts';

const guide =
  'https://learn.microsoft.com/en-us/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups';
const compatibility =
  'https://learn.microsoft.com/en-us/entra/identity/app-provisioning/application-provisioning-config-problem-scim-compatibility';
/** Shows the encoding of filters, and requests for an absent address. */
const seenByOthers = 'https://github.com/limosa-io/laravel-scim-server/issues/34';
const byExternalId = 'https://github.com/OctopusDeploy/Issues/issues/9841';

const common = {
  headers: { 'content-type': 'application/scim+json; charset=utf-8', accept: 'application/scim+json' },
  connect: published(guide, async (send) => {
    await send({ method: 'GET', path: `/Users?filter=${plus('userName', '9c1f51ec-2a06-4ba5-8ce4-d2f32ae7cd91')}` });
  }),
  findUser: published(byExternalId, async (send, { externalId, userName }) => {
    const known = foundId(await send({ method: 'GET', path: `/Users?filter=${plus('externalId', externalId)}` }));
    return known ?? foundId(await send({ method: 'GET', path: `/Users?filter=${plus('userName', userName)}` }));
  }),
  createUser: published(guide, async (send, person) => {
    const { externalId, userName, givenName, familyName, title } = person;
    const body = {
      schemas: [userUrn, enterpriseUrn],
      externalId,
      userName,
      active: true,
      displayName: displayName(person),
      emails: [{ primary: true, type: 'work', value: userName }],
      meta: { resourceType: 'User' },
      name: { formatted: displayName(person), familyName, givenName },
      preferredLanguage: null,
      roles: [],
      title,
      [enterpriseUrn]: { employeeNumber: null, department: 'Tour' },
    };
    return idOf(await send({ method: 'POST', path: '/Users', body }));
  }),
  deleteUser: published(guide, async (send, id) => {
    await send({ method: 'DELETE', path: `/Users/${id}` });
  }),
  findGroup: published(guide, async (send, { name }) => {
    const path = `/Groups?excludedAttributes=members&filter=${plus('displayName', name)}`;
    return foundId(await send({ method: 'GET', path }));
  }),
  createGroup: published(guide, async (send, { externalId, name }) => {
    const body = {
      schemas: [groupUrn, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId,
      displayName: name,
      meta: { resourceType: 'Group' },
    };
    return idOf(await send({ method: 'POST', path: '/Groups', body }));
  }),
  deleteGroup: published(guide, async (send, id) => {
    await send({ method: 'GET', path: `/Groups/${id}?excludedAttributes=members` });
    await send({ method: 'DELETE', path: `/Groups/${id}` });
  }),
} satisfies Partial<DirectoryClient>;

/** The values that both flavours send, by their paths. */
const values = (person: Person) => ({
  displayName: displayName(person),
  title: person.title,
  userName: person.userName,
  'name.givenName': person.givenName,
  'name.familyName': person.familyName,
  'name.formatted': displayName(person),
  externalId: person.externalId,
  [`${enterpriseUrn}:department`]: 'Crew',
});

const workMail = 'emails[type eq "work"].value';

/** Without a flag: capital letters, `"False"`, and members to remove in the value. */
export const entra: DirectoryClient = {
  ...common,
  name: 'Microsoft Entra ID',
  updateUser: published(seenByOthers, async (send, person, id) => {
    const replaced = Object.entries(values(person)).map(([path, value]) => ({ op: 'Replace', path, value }));
    const body = patch(
      ...replaced,
      { op: 'Replace', path: workMail, value: person.userName },
      // At the first update, the user has no address yet.
      { op: 'Replace', path: 'addresses[type eq "work"].formatted', value: '18/2111' },
      { op: 'Add', path: 'nickName', value: person.givenName },
    );
    await send({ method: 'PATCH', path: `/Users/${id}`, body });
  }),
  setActive: published(compatibility, async (send, _person, id, active) => {
    const body = patch({ op: 'Replace', path: 'active', value: active ? 'True' : 'False' });
    await send({ method: 'PATCH', path: `/Users/${id}`, body });
  }),
  renameGroup: published(guide, async (send, { name }, id) => {
    const body = patch({ op: 'Replace', path: 'displayName', value: name });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  addMember: published(guide, async (send, _team, id, member) => {
    const filter = `id eq "${id}" and members eq "${member}"`;
    await send({ method: 'GET', path: `/Groups?filter=${encodeURIComponent(filter).replaceAll('%20', '+')}` });
    const body = patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: member }] });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  removeMember: published(compatibility, async (send, _team, id, member) => {
    const body = patch({ op: 'Remove', path: 'members', value: [{ value: member }] });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
};

/** With `?aadOptscim062020`: lower case, booleans, several attributes in one value, members by a filter. */
export const entraWithFlag: DirectoryClient = {
  ...common,
  name: 'Microsoft Entra ID with aadOptscim062020',
  updateUser: published(compatibility, async (send, person, id) => {
    const body = patch(
      { op: 'replace', path: workMail, value: person.userName },
      { op: 'replace', value: values(person) },
      // https://github.com/pond/scimitar/issues/123
      { op: 'add', value: { nickName: person.givenName, 'name.middleName': 'M.' } },
    );
    await send({ method: 'PATCH', path: `/Users/${id}`, body });
  }),
  setActive: published(compatibility, async (send, _person, id, active) => {
    await send({
      method: 'PATCH',
      path: `/Users/${id}`,
      body: patch({ op: 'replace', path: 'active', value: active }),
    });
  }),
  renameGroup: inferred('The guide’s request to rename a group, in lower case.', async (send, { name }, id) => {
    const body = patch({ op: 'replace', value: { displayName: name } });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  addMember: inferred('The guide’s request to add a member, in lower case.', async (send, _team, id, member) => {
    const body = patch({ op: 'add', path: 'members', value: [{ $ref: null, value: member }] });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  removeMember: published(compatibility, async (send, _team, id, member) => {
    const body = patch({ op: 'remove', path: `members[value eq "${member}"]` });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
};
