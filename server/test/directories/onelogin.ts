import {
  type DirectoryClient,
  foundId,
  fromStandard,
  idOf,
  inferred,
  type Person,
  patch,
  plus,
  published,
} from './directory.ts';

/** Requests in the log of a server: plus-encoded filters with a trailing `&`, PUT with old URNs, PATCH of members. */
const log = 'https://github.com/goauthentik/authentik/issues/11249';
/** "OneLogin sends a dict" for `emails`. */
const emailsAsObject = 'https://github.com/15five/django-scim2/blob/master/src/django_scim/adapters.py';

const json = { 'content-type': 'application/json', accept: 'application/json' };

const user = (person: Person, active: boolean) => ({
  schemas: ['urn:scim:schemas:core:2.0', 'urn:scim:schemas:extension:enterprise:2.0'],
  userName: person.userName,
  externalId: person.externalId,
  name: { familyName: person.familyName, givenName: person.givenName, formatted: null },
  emails: { value: person.userName, type: 'work' },
  title: person.title,
  phoneNumbers: null,
  department: null,
  active,
});

export const onelogin: DirectoryClient = {
  name: 'OneLogin',
  headers: json,
  sendsExternalId: { groups: false },
  connect: inferred(fromStandard, async (send) => {
    await send({ method: 'GET', path: '/Users?' });
    await send({ method: 'GET', path: '/Groups?' });
  }),
  findUser: published(log, async (send, { userName }) =>
    foundId(await send({ method: 'GET', path: `/Users?filter=${plus('userName', userName)}&` })),
  ),
  createUser: published(emailsAsObject, async (send, person) =>
    idOf(await send({ method: 'POST', path: '/Users?', body: user(person, true) })),
  ),
  updateUser: published(log, async (send, person, id) => {
    await send({ method: 'PUT', path: `/Users/${id}?`, body: user(person, true) });
  }),
  setActive: published(log, async (send, person, id, active) => {
    await send({ method: 'PUT', path: `/Users/${id}?`, body: user(person, active) });
  }),
  deleteUser: inferred(fromStandard, async (send, id) => {
    await send({ method: 'DELETE', path: `/Users/${id}?` });
  }),
  findGroup: inferred(fromStandard, async (send, { name }) =>
    foundId(await send({ method: 'GET', path: `/Groups?filter=${plus('displayName', name)}&` })),
  ),
  createGroup: inferred(fromStandard, async (send, { name }) => {
    const body = { schemas: ['urn:scim:schemas:core:1.0'], displayName: name, members: null };
    return idOf(await send({ method: 'POST', path: '/Groups?', body }));
  }),
  renameGroup: inferred('The display name in addition to the id, like Okta.', async (send, { name }, id) => {
    const body = patch({ op: 'replace', value: { id, displayName: name, display: name } });
    await send({ method: 'PATCH', path: `/Groups/${id}?`, body });
  }),
  addMember: published(log, async (send, _team, id, member) => {
    const headers = { 'content-type': 'application/scim+json', 'user-agent': '' };
    const body = patch({ op: 'add', path: 'members', value: [{ value: member }] });
    await send({ method: 'PATCH', path: `/Groups/${id}?`, body, headers });
  }),
  removeMember: inferred('The counterpart of the addition.', async (send, _team, id, member) => {
    const body = patch({ op: 'remove', path: 'members', value: [{ value: member, display: null }] });
    await send({ method: 'PATCH', path: `/Groups/${id}?`, body });
  }),
  deleteGroup: inferred(fromStandard, async (send, id) => {
    await send({ method: 'DELETE', path: `/Groups/${id}?` });
  }),
};
