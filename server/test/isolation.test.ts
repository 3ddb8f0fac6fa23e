/** Two projects with equal contents: a caller of one uses the credentials and ids of the other. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Project } from '../src/domain/projects/project.entity.ts';
import { buildTestApp, type TestApp } from './build-app.ts';
import { postLogoutRedirectUri, redirectUri } from './factories.ts';
import { administer } from './global-setup.ts';
import { address, type Tenant, tenant, tenantTables } from './tenant.ts';

/** A request with the credentials of `own` about something of `other`. */
type Attempt = (own: Tenant, other: Tenant) => Promise<Response | Reply>;
interface Reply {
  status: number;
  text: string;
  location?: string;
}

const scim =
  (method: string, path: (other: Tenant) => string, body?: (other: Tenant) => object): Attempt =>
  (own, other) =>
    fetch(`${own.app.url}/v1/scim/${own.project.id}${path(other)}`, {
      method,
      headers: { Authorization: `Bearer ${own.scimToken}`, 'Content-Type': 'application/scim+json' },
      ...(body && { body: JSON.stringify(body(other)) }),
    });
/** At the directory of the organization of `own`. */
const atOrganization =
  (method: string, path: (other: Tenant) => string, token: (own: Tenant, other: Tenant) => string): Attempt =>
  (own, other) =>
    fetch(`${own.app.url}/v1/scim/${own.organization}${path(other)}`, {
      method,
      headers: { Authorization: `Bearer ${token(own, other)}` },
    });
const patch = (value: object) => () => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [value],
});
const bulk = (operation: (other: Tenant) => object) => (other: Tenant) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
  Operations: [operation(other)],
});
const managerPath = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager';
const person = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: address, active: true };

const withCookies = (own: Tenant, path: string, cookies: Record<string, string>, init: RequestInit = {}) =>
  fetch(`${own.app.url}${path}`, {
    ...init,
    redirect: 'manual',
    headers: {
      Origin: own.app.url,
      Cookie: Object.entries(cookies)
        .map(([name, value]) => `${name}=${value}`)
        .join('; '),
    },
  });
const authorizePath = ({ client, rp }: Tenant, more: Record<string, string> = {}) =>
  `/authorize?${new URLSearchParams({
    ...{ response_type: 'code', client_id: client.id, redirect_uri: redirectUri, scope: 'openid', state: 's' },
    ...{ code_challenge: rp.proof.challenge, code_challenge_method: 'S256', ...more },
  })}`;
const cookieOf = (named: Tenant, of: Tenant) => ({ [`lk-session-${named.project.id}`]: of.sessionSecret });
const step =
  (name: string, body: (other: Tenant) => object, key?: (other: Tenant) => string): Attempt =>
  async (own, other) => {
    const text = JSON.stringify(body(other));
    const proof = other.page.prove(name, text, { kind: 'registration' });
    const answer = await own.page.post(name, text, {
      'Device-Proof': proof,
      ...(key && { 'X-Api-Key': key(other) }),
    });
    return { status: answer.httpStatus, text: answer.text };
  };
const delegated =
  (op: string, body: object): Attempt =>
  async (own, other) => {
    const sealed = await other.backEnd.seal({ op, body });
    return own.backEnd.send(sealed);
  };

const graphql =
  (kind: 'query' | 'mutation') =>
  (field: string, variables: (other: Tenant, own: Tenant) => Record<string, string>): Attempt =>
  (own, other) => {
    const given = variables(other, own);
    const declared = Object.keys(given).map((name) => `$${name}: ID!`);
    return fetch(`${own.app.url}/admin/graphql`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${own.adminToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: `${kind} (${declared}) { ${field} }`, variables: given }),
    });
  };

/** `own` neither sees nor changes data of `other`. */
const attempts: Record<string, Attempt> = {
  'GraphQL client': graphql('query')('client(id: $id) { name apiKeys { id } }', ({ client }) => ({ id: client.id })),
  'GraphQL user': graphql('query')('user(id: $id) { userName project { name } }', ({ user }) => ({ id: user.id })),
  'GraphQL group': graphql('query')('group(id: $id) { displayName memberCount }', ({ group }) => ({ id: group })),
  'GraphQL view as a user': graphql('query')(
    'viewAs(clientId: $client, userId: $user, scopes: []) { takesPasskey }',
    ({ user }, own) => ({ client: own.client.id, user: user.id }),
  ),
  'GraphQL view at an application': graphql('query')(
    'viewAs(clientId: $client, userId: $user, scopes: []) { takesPasskey }',
    ({ client, user }) => ({ client: client.id, user: user.id }),
  ),
  'GraphQL sign-in history': graphql('query')(
    'signInHistory(projectId: $project, about: "ada@example.com") { user { id } attempts { id } }',
    ({ project }) => ({ project: project.id }),
  ),
  'GraphQL users of a group': graphql('query')(
    'users(projectId: $project, filter: { groupId: $group }) { totalCount edges { node { id } } }',
    ({ group }, own) => ({ project: own.project.id, group }),
  ),
  'GraphQL groups of a user': graphql('query')(
    'groups(projectId: $project, userId: $user) { totalCount edges { node { id } } }',
    ({ user }, own) => ({ project: own.project.id, user: user.id }),
  ),
  'GraphQL changeUsers': graphql('mutation')(
    'changeUsers(input: { projectId: $project, userIds: [$user], action: ACTIVATE }) { done code }',
    ({ user }, own) => ({ project: own.project.id, user: user.id }),
  ),
  'GraphQL assignRole to a user of another project': graphql('mutation')(
    'assignRole(input: { roleId: $role, userId: $user }) { id }',
    ({ user }, own) => ({ role: own.role, user: user.id }),
  ),
  'GraphQL assignRole of another project': graphql('mutation')(
    'assignRole(input: { roleId: $role, groupId: $group }) { id }',
    ({ role, group }) => ({ role, group }),
  ),
  'GraphQL updateGroup': graphql('mutation')(
    'updateGroup(input: { id: $id, displayName: "X" }) { displayName }',
    ({ localGroup }) => ({ id: localGroup }),
  ),
  'GraphQL addGroupMembers': graphql('mutation')(
    'addGroupMembers(input: { groupId: $group, userIds: [$user] }) { memberCount }',
    ({ localGroup }, own) => ({ group: localGroup, user: own.user.id }),
  ),
  'GraphQL removeGroupMembers': graphql('mutation')(
    'removeGroupMembers(input: { groupId: $group, userIds: [$user] }) { memberCount }',
    ({ localGroup, user }) => ({ group: localGroup, user: user.id }),
  ),
  'GraphQL deleteGroup': graphql('mutation')('deleteGroup(id: $id)', ({ localGroup }) => ({ id: localGroup })),
  'GraphQL api': graphql('query')('api(id: $id) { name }', ({ api }) => ({ id: api })),
  'GraphQL apiGrants': graphql('query')('apiGrants(clientId: $id) { scopes }', ({ client }) => ({ id: client.id })),
  'GraphQL updateApi': graphql('mutation')('updateApi(input: { id: $id, name: "X" }) { name }', ({ api }) => ({
    id: api,
  })),
  'GraphQL customDomains': graphql('query')('customDomains(projectId: $id) { host }', ({ project }) => ({
    id: project.id,
  })),
  'GraphQL checkCustomDomain': graphql('mutation')('checkCustomDomain(id: $id) { host }', ({ domain }) => ({
    id: domain,
  })),
  'GraphQL setApiGrant of an API of another project': graphql('mutation')(
    'setApiGrant(input: { clientId: $client, apiId: $api, scopes: ["read"] }) { scopes }',
    ({ api }, own) => ({ client: own.client.id, api }),
  ),
  'GraphQL setApiGrant to a client of another project': graphql('mutation')(
    'setApiGrant(input: { clientId: $client, apiId: $api, scopes: [] }) { scopes }',
    ({ api, client }) => ({ client: client.id, api }),
  ),
  'GraphQL userRoles': graphql('query')('userRoles(userId: $id) { role { key } }', ({ user }) => ({ id: user.id })),
  'GraphQL previewClaims': graphql('query')(
    'previewClaims(clientId: $client, userId: $user, scopes: ["openid", "profile", "roles"]) { userInfo }',
    ({ user }, own) => ({ client: own.client.id, user: user.id }),
  ),
  'GraphQL claimSettings': graphql('query')('claimSettings(clientId: $id) { version }', ({ client }) => ({
    id: client.id,
  })),
  'GraphQL organization': graphql('query')(
    'organization(id: $id) { name memberCount defaultRoles { key } domains { domain } }',
    ({ organization }) => ({ id: organization }),
  ),
  'GraphQL organizationMembers': graphql('query')(
    'organizationMembers(organizationId: $id) { edges { node { user { userName } } } }',
    ({ organization }) => ({ id: organization }),
  ),
  'GraphQL users of an organization': graphql('query')(
    'users(projectId: $project, filter: { organizationId: $organization }) { totalCount edges { node { id } } }',
    ({ organization }, own) => ({ project: own.project.id, organization }),
  ),
  'GraphQL events of an organization': graphql('query')(
    'auditEvents(projectId: $project, filter: { organizationId: $organization }) { edges { node { id } } }',
    ({ organization }, own) => ({ project: own.project.id, organization }),
  ),
  'GraphQL addOrganizationMember of a user of another project': graphql('mutation')(
    'addOrganizationMember(input: { organizationId: $organization, userId: $user }) { id }',
    ({ user }, own) => ({ organization: own.organization, user: user.id }),
  ),
  'GraphQL addOrganizationMember to an organization of another project': graphql('mutation')(
    'addOrganizationMember(input: { organizationId: $organization, userId: $user }) { id }',
    ({ organization }, own) => ({ organization, user: own.user.id }),
  ),
  'GraphQL updateOrganization': graphql('mutation')(
    'updateOrganization(input: { id: $id, name: "X" }) { name }',
    ({ organization }) => ({ id: organization }),
  ),
  'GraphQL updateOrganizationMember': graphql('mutation')(
    'updateOrganizationMember(input: { id: $id, state: SUSPENDED }) { id }',
    ({ organizationMembership }) => ({ id: organizationMembership }),
  ),
  'GraphQL unassignOrganizationRole': graphql('mutation')(
    'unassignOrganizationRole(input: { membershipId: $id, roleKey: "admin" }) { id }',
    ({ organizationMembership }) => ({ id: organizationMembership }),
  ),
  'GraphQL grantAccess to an organization of another project': graphql('mutation')(
    'grantAccess(input: { clientId: $client, organizationId: $organization }) { id }',
    ({ organization }, own) => ({ client: own.client.id, organization }),
  ),
  'GraphQL updateUser': graphql('mutation')(
    'updateUser(input: { id: $id, givenName: "Eve" }) { givenName }',
    ({ user }) => ({
      id: user.id,
    }),
  ),
  'GraphQL updateClient': graphql('mutation')(
    'updateClient(input: { id: $id, name: "App" }) { name }',
    ({ client }) => ({ id: client.id }),
  ),
  'GET /Users/<id>': scim('GET', ({ user }) => `/Users/${user.id}`),
  'PUT /Users/<id>': scim(
    'PUT',
    ({ user }) => `/Users/${user.id}`,
    () => ({ ...person, title: 'Changed' }),
  ),
  'PATCH /Users/<id>': scim(
    'PATCH',
    ({ user }) => `/Users/${user.id}`,
    patch({ op: 'replace', path: 'title', value: 'Changed' }),
  ),
  'GET /Groups/<id>': scim('GET', ({ group }) => `/Groups/${group}`),
  'PATCH /Groups/<id>': scim(
    'PATCH',
    ({ group }) => `/Groups/${group}`,
    patch({ op: 'replace', path: 'displayName', value: 'Team' }),
  ),
  'GET /Users?filter=id': scim('GET', ({ user }) => `/Users?filter=${encodeURIComponent(`id eq "${user.id}"`)}`),
  'GET /Groups?filter=members': scim(
    'GET',
    ({ user }) => `/Groups?filter=${encodeURIComponent(`members.value eq "${user.id}"`)}`,
  ),
  'POST /.search': scim(
    'POST',
    () => '/.search',
    ({ user }) => ({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
      filter: `id eq "${user.id}"`,
    }),
  ),
  'POST /Groups with a member': scim(
    'POST',
    () => '/Groups',
    ({ user }) => ({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'New',
      members: [{ value: user.id }],
    }),
  ),
  'PATCH /Groups/<own> with a member and its address': (own, { project, user }) => {
    const member = { value: user.id, $ref: `${own.app.url}/v1/scim/${project.id}/Users/${user.id}` };
    const body = patch({ op: 'add', path: 'members', value: [member] });
    return scim('PATCH', () => `/Groups/${own.group}`, body)(own, own);
  },
  'PATCH /Groups/<own> with a group in it': (own, { group }) => {
    const body = patch({ op: 'add', path: 'members', value: [{ value: group, type: 'Group' }] });
    return scim('PATCH', () => `/Groups/${own.group}`, body)(own, own);
  },
  'PATCH /Users/<own> with a manager': (own, { user }) => {
    const body = patch({ op: 'add', path: managerPath, value: { value: user.id } });
    return scim('PATCH', () => `/Users/${own.user.id}?attributes=${managerPath}`, body)(own, own);
  },
  'POST /Bulk with the path of the project': scim(
    'POST',
    () => '/Bulk',
    bulk(({ project, user }) => ({ method: 'DELETE', path: `/../${project.id}/Users/${user.id}` })),
  ),
  'POST /Bulk PATCH': scim(
    'POST',
    () => '/Bulk',
    bulk(({ user }) => ({
      method: 'PATCH',
      path: `/Users/${user.id}`,
      data: patch({ op: 'replace', path: 'title', value: 'Bulk' })(),
    })),
  ),
  'POST /Bulk DELETE of a group': scim(
    'POST',
    () => '/Bulk',
    bulk(({ group }) => ({ method: 'DELETE', path: `/Groups/${group}` })),
  ),
  'GET /Users/<id> of an organization': atOrganization(
    'GET',
    ({ atHome }) => `/Users/${atHome}`,
    (own) => own.organizationScimToken,
  ),
  'DELETE /Users/<id> of an organization': atOrganization(
    'DELETE',
    ({ atHome }) => `/Users/${atHome}`,
    (own) => own.organizationScimToken,
  ),
  'SCIM of an organization with the token of one of another project': atOrganization(
    'GET',
    () => '/Users',
    (_own, other) => other.organizationScimToken,
  ),
  'SCIM with the token of another project': (own, other) =>
    fetch(`${own.app.url}/v1/scim/${own.project.id}/Users`, {
      headers: { Authorization: `Bearer ${other.scimToken}` },
    }),
  'GET /authorize with the session of another project': (own, other) =>
    withCookies(own, authorizePath(own, { prompt: 'none' }), cookieOf(own, other)),
  'GET /authorize with the ID token of another project': (own, other) =>
    withCookies(own, authorizePath(own, { prompt: 'none', id_token_hint: other.tokens.id_token }), cookieOf(own, own)),
  'POST /oauth2/token with a code of another project': async (own, other) =>
    own.rp.exchange(await other.rp.code(), { code_verifier: other.rp.proof.verifier }),
  'GET /oauth2/end_session with the session of another project': (own, other) =>
    withCookies(own, `/oauth2/end_session?client_id=${own.client.id}`, cookieOf(own, other)),
  'GET /account with the session of another project': (own, other) =>
    withCookies(own, `/account?project=${own.project.id}`, cookieOf(own, other)),
  'POST authenticate in a transaction of another project': async (own, other) => {
    const text = JSON.stringify({ txn: other.page.txn, userid: address });
    const proof = other.page.prove('authenticate', text, { kind: 'registration' });
    const answer = await own.page.post('authenticate', text, { 'Device-Proof': proof });
    return { status: answer.httpStatus, text: answer.text };
  },
  'POST verify-email-otp in a transaction of another project': step('verify-email-otp', ({ page }) => ({
    txn: page.txn,
    userid: address,
    otp: '000000',
  })),
  'POST /v1/delegation with the envelope of another project': delegated('getUserCredentials', { userid: address }),
  'GET /oauth2/end_session with the ID token of another project': (own, other) =>
    withCookies(
      own,
      `/oauth2/end_session?${new URLSearchParams({
        client_id: own.client.id,
        id_token_hint: other.tokens.id_token,
        post_logout_redirect_uri: postLogoutRedirectUri,
      })}`,
      cookieOf(own, other),
    ),
  'GraphQL endUserSession': graphql('mutation')('endUserSession(id: $id)', ({ sessionId }) => ({ id: sessionId })),
  'GraphQL organizationInvitations': graphql('query')(
    'organizationInvitations(organizationId: $id) { edges { node { email } } }',
    ({ organization }) => ({ id: organization }),
  ),
  'GraphQL resendOrganizationInvitation': graphql('mutation')(
    'resendOrganizationInvitation(id: $id) { email }',
    ({ organizationInvitation }) => ({ id: organizationInvitation }),
  ),
  'GraphQL revokeOrganizationInvitation': graphql('mutation')(
    'revokeOrganizationInvitation(id: $id) { email }',
    ({ organizationInvitation }) => ({ id: organizationInvitation }),
  ),
  'GraphQL portalLinks': graphql('query')(
    'portalLinks(organizationId: $id) { edges { node { email } } }',
    ({ organization }) => ({ id: organization }),
  ),
  'GraphQL createPortalLink': graphql('mutation')(
    'createPortalLink(input: { organizationId: $id, can: [DOMAINS], email: "x@example.com" }) { url }',
    ({ organization }) => ({ id: organization }),
  ),
  'GraphQL sendPortalLink': graphql('mutation')('sendPortalLink(id: $id) { email }', ({ portalLink }) => ({
    id: portalLink,
  })),
  'GraphQL revokePortalLink': graphql('mutation')('revokePortalLink(id: $id) { email }', ({ portalLink }) => ({
    id: portalLink,
  })),
  'GraphQL removeOrganizationMember': graphql('mutation')(
    'removeOrganizationMember(id: $id)',
    ({ organizationMembership }) => ({
      id: organizationMembership,
    }),
  ),
  'GraphQL createConnection of an organization': graphql('mutation')(
    'createConnection(input: { organizationId: $id, kind: OIDC, name: "X" }) { connection { id } }',
    ({ organization }) => ({ id: organization }),
  ),
  'GraphQL checkOrganizationDomain': graphql('mutation')(
    'checkOrganizationDomain(id: $id) { domain }',
    ({ organizationDomain }) => ({ id: organizationDomain }),
  ),
  'GraphQL verifyOrganizationDomain': graphql('mutation')(
    'verifyOrganizationDomain(input: { id: $id, reason: "X" }) { domain }',
    ({ organizationDomain }) => ({ id: organizationDomain }),
  ),
  'GraphQL removeOrganizationDomain': graphql('mutation')(
    'removeOrganizationDomain(id: $id)',
    ({ organizationDomain }) => ({ id: organizationDomain }),
  ),
  'GraphQL deleteOrganizationRole': graphql('mutation')('deleteOrganizationRole(id: $id)', ({ organizationRole }) => ({
    id: organizationRole,
  })),
  'GraphQL deleteOrganization': graphql('mutation')('deleteOrganization(input: { id: $id })', ({ organization }) => ({
    id: organization,
  })),
  'DELETE /Users/<id>': scim('DELETE', ({ user }) => `/Users/${user.id}`),
};

/** Counters, logs and statistics, which a refused request may change. */
const uncounted = ['audit_log', 'repeated_refusals', 'scim_request_records', 'scim_days', 'activity_days'];

/** All rows of a project. */
async function rowsOf(app: TestApp, project: Project): Promise<Record<string, string[]>> {
  return administer(app.databaseUrl, async (client: pg.Client) => {
    const tables = await tenantTables(client);
    const found: Record<string, string[]> = {};
    for (const table of tables.filter((name) => !uncounted.includes(name))) {
      const { rows } = await client.query<{ row: string }>(
        `select to_jsonb(t)::text as row from "${table}" t where project_id = $1 order by 1`,
        [project.id],
      );
      // The nonce of a sign-in is consumed by a refused step, too.
      found[table] = rows.map(({ row }) =>
        row.replaceAll(/"(nonce_\w+|last_\w+|idle_expires_at)": ("[^"]*"|null),? ?/g, ''),
      );
    }
    return found;
  });
}

/** The response without ids, times and secrets, which differ between two instances. */
async function shapeOf(answer: Response | Reply, tenants: readonly Tenant[]): Promise<object> {
  const isReply = 'text' in answer && typeof answer.text === 'string';
  let text = isReply ? (answer.text as string) : await (answer as Response).text();
  let location = isReply ? '' : ((answer as Response).headers.get('location') ?? '');
  tenants.forEach(({ app, project, client, user, group }, number) => {
    const known = {
      [app.url]: 'URL',
      [project.id]: 'project',
      [client.id]: 'client',
      [user.id]: 'user',
      [group]: 'group',
    };
    for (const [value, name] of Object.entries(known)) {
      for (const spelling of [value, encodeURIComponent(value)]) {
        text = text.replaceAll(spelling, `<${name} ${number}>`);
        location = location.replaceAll(spelling, `<${name} ${number}>`);
      }
    }
  });
  const varying = /[A-Za-z0-9_-]{22,}|[0-9a-f]{8}-[0-9a-f-]{27}|W\/"[^"]*"/g;
  return { status: answer.status, text: text.replace(varying, '*'), location: location.replace(varying, '*') };
}

describe('a caller of one project', () => {
  const worlds: Record<'on' | 'off', { app: TestApp; own: Tenant; other: Tenant }> = {} as never;
  const open = async (rowSecurity: boolean) => {
    const app = await buildTestApp(undefined, { rowSecurity });
    await app.services.seed.create({ demo: false });
    return { app, own: await tenant(app), other: await tenant(app) };
  };
  beforeAll(async () => {
    worlds.on = await open(true);
    worlds.off = await open(false);
  });
  afterAll(() => Promise.all(Object.values(worlds).map(({ app }) => app.close())));

  it.each(Object.keys(attempts))('cannot access data of another: %s', async (name) => {
    const attempt = attempts[name] as Attempt;
    const shapes: object[] = [];
    for (const { app, own, other } of [worlds.on, worlds.off]) {
      const before = await rowsOf(app, other.project);
      shapes.push(await shapeOf(await attempt(own, other), [own, other]));
      // Issuing a code to the other project changes rows of that project.
      if (!name.includes('a code of')) expect(await rowsOf(app, other.project)).toEqual(before);
    }
    expect(shapes[0]).toEqual(shapes[1]);
    // The same request about the caller's own data gets another response.
    const { own } = worlds.on;
    expect(await shapeOf(await attempt(own, own), [own, worlds.on.other])).not.toEqual(shapes[0]);
  });
});
