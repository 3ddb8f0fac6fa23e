import {
  type DirectoryClient,
  displayName,
  foundId,
  groupUrn,
  idOf,
  type Person,
  patch,
  percent,
  published,
  type Send,
  userUrn,
} from './directory.ts';

const guide = 'https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20';

/** Gets the user, and puts the whole user back with the change. */
async function putBack(send: Send, id: string, change: object): Promise<void> {
  const { body } = await send({ method: 'GET', path: `/Users/${id}` });
  await send({ method: 'PUT', path: `/Users/${id}`, body: { ...body, ...change } });
}

const profile = (person: Person) => ({
  userName: person.userName,
  name: { givenName: person.givenName, middleName: '', familyName: person.familyName },
  emails: [{ primary: true, value: person.userName, type: 'work', display: person.userName }],
  displayName: displayName(person),
  title: person.title,
  locale: 'en-US',
  externalId: person.externalId,
});

const common = {
  headers: { 'user-agent': 'Okta SCIM Client 1.0.0', 'content-type': 'application/scim+json; charset=utf-8' },
  sendsExternalId: { groups: false },
  connect: published('https://developer.okta.com/docs/reference/scim/scim-11/', async (send) => {
    await send({ method: 'GET', path: '/Users?startIndex=1&count=2' });
    await send({ method: 'GET', path: '/Groups?startIndex=1&count=100' });
  }),
  findUser: published(guide, async (send, { userName }) => {
    const path = `/Users?filter=${percent('userName', userName)}&startIndex=1&count=100`;
    return foundId(await send({ method: 'GET', path }));
  }),
  createUser: published(guide, async (send, person) => {
    const body = { schemas: [userUrn], ...profile(person), groups: [], password: '1mz050nq', active: true };
    return idOf(await send({ method: 'POST', path: '/Users', body }));
  }),
  updateUser: published(guide, (send, person, id) => putBack(send, id, profile(person))),
  // Okta finds groups by importing them.
  findGroup: published(guide, async (send, { name }) => {
    const { body } = await send({ method: 'GET', path: '/Groups?startIndex=1&count=100' });
    return body.Resources.find((group: { displayName: string }) => group.displayName === name)?.id;
  }),
  createGroup: published(guide, async (send, { name }) => {
    const body = { schemas: [groupUrn], displayName: name, members: [] };
    return idOf(await send({ method: 'POST', path: '/Groups', body }));
  }),
  deleteGroup: published(guide, async (send, id) => {
    await send({ method: 'DELETE', path: `/Groups/${id}` });
  }),
} satisfies Partial<DirectoryClient>;

/** An integration of the Okta Integration Network: users by PUT, their access and groups by PATCH. Never deletes users. */
export const okta: DirectoryClient = {
  ...common,
  name: 'Okta, an integration of its network',
  setActive: published(guide, async (send, _person, id, active) => {
    await send({ method: 'PATCH', path: `/Users/${id}`, body: patch({ op: 'replace', value: { active } }) });
  }),
  renameGroup: published(guide, async (send, { name }, id) => {
    const body = patch({ op: 'replace', value: { id, displayName: name } });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  addMember: published(guide, async (send, { name }, id, member) => {
    // Each change of members comes with the name.
    await send({
      method: 'PATCH',
      path: `/Groups/${id}`,
      body: patch({ op: 'replace', value: { id, displayName: name } }),
    });
    const body = patch({ op: 'add', path: 'members', value: [{ value: member, display: 'test.user@okta.local' }] });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
  removeMember: published(guide, async (send, _team, id, member) => {
    const body = patch({ op: 'remove', path: `members[value eq "${member}"]` });
    await send({ method: 'PATCH', path: `/Groups/${id}`, body });
  }),
};

const withMembers = (name: string, id: string, members: readonly string[]) => ({
  schemas: [groupUrn],
  id,
  displayName: name,
  members: members.map((value) => ({ value, display: 'test.user@okta.local' })),
});

/** An integration of the wizard: all by PUT. */
export const oktaByPut: DirectoryClient = {
  ...common,
  name: 'Okta, an integration of the wizard',
  setActive: published(guide, (send, _person, id, active) => putBack(send, id, { active })),
  renameGroup: published(guide, async (send, { name }, id, members) => {
    await send({ method: 'PUT', path: `/Groups/${id}`, body: withMembers(name, id, members) });
  }),
  addMember: published(guide, async (send, { name }, id, member, members) => {
    await send({ method: 'PUT', path: `/Groups/${id}`, body: withMembers(name, id, [...members, member]) });
  }),
  removeMember: published(guide, async (send, { name }, id, member, members) => {
    const left = members.filter((each) => each !== member);
    await send({ method: 'PUT', path: `/Groups/${id}`, body: withMembers(name, id, left) });
  }),
};
