/** Admins of an organization: what they may use is listed; all else is refused, and other organizations do not exist to them. */
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import {
  argumentsOf,
  callOperation,
  newProjectObjects,
  operations,
  type ProjectObjects,
  type Root,
} from '../../../test/admin-operations.ts';
import { snapshot } from '../../../test/admin-snapshot.ts';
import { everything } from '../../domain/admins/permission.ts';
import { system } from '../../domain/kernel/actor.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { adminSchema } from '../schema.ts';
import { fieldRuleOf, isRoot, operationRuleOf } from './access.ts';
import { listedForOrganizations } from './organization-admin.ts';

const schema = adminSchema();
let harness: AdminHarness;
/** Ids of the project's objects; those that can belong to an organization belong to the project. */
let ofProject: ProjectObjects;
/** The same, but each object that can belong to an organization belongs to Acme. */
let ofAcme: ProjectObjects;
let acme: Record<string, string>;
let globex: Record<string, string>;
let globexId: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  ofProject = (await newProjectObjects(harness, 'ours')).ids;
  const { project: projectId, organization: organizationId } = ofProject;
  const { services } = harness;
  const home = { projectId, organizationId };
  const oidc = { issuer: 'https://acme.idp.example.com', clientId: 'latchkey' };
  const wanted = { ...home, kind: 'oidc', preset: 'generic', name: 'Acme IdP', oidc } as const;
  const connection = await services.connections.create(wanted, system);
  const { scimToken } = await services.directories.issueScimToken({ ...home, name: 'Acme' }, system);
  const group = await services.groups.create(home, { displayName: 'Acme staff', externalId: null }, [], system);
  ofAcme = { ...ofProject, connection: connection.id, scimToken: scimToken.id, group: group.id };
  globexId = (await services.organizations.create(projectId, { slug: 'globex', name: 'Globex' }, system)).id;
  acme = await harness.tokenOf('organization_admin', projectId, [organizationId]);
  globex = await harness.tokenOf('organization_admin', projectId, [globexId]);
});
afterAll(() => harness.close());

type Field = GraphQLField<unknown, unknown>;
const ruleOf = (root: Root, field: Field) => operationRuleOf(schema.getType(root) as GraphQLObjectType, field);
const kinds = operations.map(
  ([root, name, field]) => [root, name, field, ruleOf(root, field).forOrganizations] as const,
);
const refused = kinds.filter(([, , , kind]) => kind === undefined);
const listed = kinds.filter(([, , , kind]) => kind === 'itself');

describe('the list', () => {
  it('names operations and fields that exist', () => {
    expect(listedForOrganizations.operations.filter((name) => !operations.some(([, one]) => one === name))).toEqual([]);
    const fields = Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type))
      .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`));
    expect(listedForOrganizations.fields.filter((name) => !fields.includes(name))).toEqual([]);
  });

  it('has only operations whose node can belong to an organization', () => {
    expect(listed.filter(([root, , field]) => ruleOf(root, field).about === undefined)).toEqual([]);
  });
});

/** Arguments with `organizationId` in place of `projectId`. */
const inPlace: Record<string, (organizationId: string) => string> = {
  ...Object.fromEntries(
    ['scimTokens', 'scimRequests', 'directoryHealth', 'testDirectory', 'auditEvents'].map((name) => [
      name,
      (id: string) => `(organizationId: "${id}")`,
    ]),
  ),
  issueScimToken: (id) => `(input: { organizationId: "${id}", name: "x" })`,
  createConnection: (id) =>
    `(input: { organizationId: "${id}", kind: OIDC, name: "IdP", oidc: { issuer: "https://idp.example.com", clientId: "x" } })`,
  assignOrganizationRole: () => `(input: { groupId: "${ofAcme.group}", roleKey: "admin" })`,
  unassignOrganizationRole: () => `(input: { groupId: "${ofAcme.group}", roleKey: "admin" })`,
};

describe('an admin of an organization', () => {
  it.each(refused)('is refused %s.%s about the own organization, and about the project', async (root, _name, field) => {
    for (const ids of [ofAcme, ofProject]) {
      const before = await snapshot(harness);
      const answer = await callOperation(harness, ids, [root, field], acme);
      expect(['not-found', 'forbidden']).toContain(answer.code);
      expect(answer.data === null || Object.values(answer.data).every((value) => value === null)).toBe(true);
      expect(await snapshot(harness)).toEqual(before);
    }
  });

  it.each(listed)('gets nothing of %s.%s of another organization, or of the project', async (root, name, field) => {
    const before = await snapshot(harness);
    const answers = [
      await callOperation(harness, ofAcme, [root, field], globex),
      await callOperation(harness, ofProject, [root, field], globex),
    ];
    const text = inPlace[name]?.(ofAcme.organization);
    const query = (given: string) => `${root.toLowerCase()} { ${name}${given} ${allowed(field.type, 2)} }`;
    if (text) answers.push(await harness.call(query(text), {}, globex));
    for (const answer of answers) {
      expect(answer.code).toBe('not-found');
      for (const id of Object.values(ofAcme)) expect(answer.body).not.toContain(id);
    }
    expect(await snapshot(harness)).toEqual(before);
  });

  it.each(listed.filter(([root]) => root === 'Query'))('reads %s.%s of the own one', async (root, name, field) => {
    const given = inPlace[name]?.(ofAcme.organization) ?? argumentsOf(ofAcme, name);
    const answer = await harness.call(`${root.toLowerCase()} { ${name}${given} ${allowed(field.type, 2)} }`, {}, acme);
    expect(answer.errors).toEqual([]);
    expect(answer.data[name]).not.toBeNull();
  });

  it('invites, connects, proves a domain, issues a token and makes a portal link', async () => {
    const run = async (mutation: string) => (await harness.call(`mutation { ${mutation} }`, {}, acme)).errors;
    const of = `organizationId: "${ofAcme.organization}"`;
    const oidc = '{ issuer: "https://two.idp.example.com", clientId: "x" }';
    for (const mutation of [
      `inviteOrganizationMember(input: { ${of}, email: "new@example.com", roleKeys: ["admin"] }) { id organization { name } }`,
      `addOrganizationDomain(input: { ${of}, domain: "acme.example.org" }) { domain { id state } record { value } }`,
      `createConnection(input: { ${of}, kind: OIDC, name: "Two", oidc: ${oidc} }) { connection { id } callback { redirectUri } }`,
      `updateConnection(input: { id: "${ofAcme.connection}", name: "Renamed" }) { name }`,
      `issueScimToken(input: { ${of}, name: "Two" }) { token scimToken { id } }`,
      `revokeScimToken(id: "${ofAcme.scimToken}") { revokedAt }`,
      `createPortalLink(input: { ${of}, email: "it@example.com", can: [DOMAINS] }) { url portalLink { id } }`,
      `sendPortalLink(id: "${ofAcme.portalLink}") { id email }`,
      `updateOrganizationMember(input: { id: "${ofAcme.organizationMembership}", state: SUSPENDED }) { state user { email } }`,
    ]) {
      expect([mutation, await run(mutation)]).toEqual([mutation, []]);
    }
  });

  it('names itself and its organizations, and lists the roles of members', async () => {
    const text = `{ project(id: "${ofAcme.project}") { id name organizationsEnabled scimEnabled }
      me { grants { role projectId organizationIds } } administeredOrganizations { id name }
      organizationRoles(projectId: "${ofAcme.project}") { key } }`;
    const { data } = await harness.call(text, {}, acme);
    expect(data).toEqual({
      project: { id: ofAcme.project, name: 'Project ours', organizationsEnabled: true, scimEnabled: true },
      me: {
        grants: [{ role: 'ORGANIZATION_ADMIN', projectId: ofAcme.project, organizationIds: [ofAcme.organization] }],
      },
      administeredOrganizations: [{ id: ofAcme.organization, name: 'Acme' }],
      organizationRoles: [{ key: 'admin' }],
    });
    const elsewhere = (await newProjectObjects(harness, 'elsewhere')).ids.project;
    const roles = await harness.call(`{ organizationRoles(projectId: "${elsewhere}") { key } }`, {}, acme);
    expect(roles.code).toBe('not-found');
    expect((await harness.call(`{ project(id: "${elsewhere}") { id } }`, {}, acme)).code).toBe('not-found');
    const settings = await harness.call(`{ project(id: "${ofAcme.project}") { mfaPolicy } }`, {}, acme);
    expect(settings.data?.project ?? null).toBeNull();
  });

  it('sees the events of its organization only, without addresses of admins', async () => {
    const { services } = harness;
    await services.organizations.update(keyIn(ofAcme.project, globexId), { name: 'Globex Inc' }, system);
    const query = (fields: string, filter = '') =>
      `{ auditEvents(organizationId: "${ofAcme.organization}"${filter}) { edges { node { ${fields} } } } }`;
    const { data } = await harness.call(query('type subject { name }'), {}, acme);
    const types = data.auditEvents.edges.map(({ node }: { node: { type: string } }) => node.type);
    expect(types).toContain('organization.created');
    expect(JSON.stringify(data)).not.toContain('Globex');
    // The argument wins over the filter.
    const filtered = await harness.call(
      query('subject { name }', `, filter: { organizationId: "${globexId}" }`),
      {},
      acme,
    );
    expect(JSON.stringify(filtered.data)).not.toContain('Globex');
    expect((await harness.call(query('ip'), {}, acme)).errors.length).toBeGreaterThan(0);
    const both = `{ auditEvents(projectId: "${ofAcme.project}", organizationId: "${ofAcme.organization}") { pageInfo { endCursor } } }`;
    expect((await harness.call(both, {}, acme)).code).toBe('invalid');
  });

  it('downloads nothing, and gets no logos', async () => {
    for (const path of [`events?project=${ofAcme.project}`, 'events', `users?project=${ofAcme.project}`]) {
      const { status } = await fetch(`${harness.url}/admin/export/${path}`, { headers: acme });
      expect([path, [403, 404].includes(status)]).toEqual([path, true]);
    }
    const logo = `${harness.url}/admin/projects/${ofAcme.project}/logos/${ofAcme.logo}`;
    expect((await fetch(logo, { headers: acme })).status).toBe(404);
  });

  it('repeats a deletion by its idempotency key', async () => {
    const domain = await harness.services.organizationDomains.add(
      keyIn(ofAcme.project, ofAcme.organization),
      'gone.example.org',
      system,
    );
    const mutation = `mutation { removeOrganizationDomain(id: "${domain.id}") }`;
    const key = { 'Idempotency-Key': crypto.randomUUID() };
    for (const headers of [acme, acme]) {
      expect((await harness.call(mutation, {}, { ...headers, ...key })).data.removeOrganizationDomain).toBe(domain.id);
    }
    expect((await harness.call(mutation, {}, { ...globex, ...key })).code).toBe('not-found');
  });
});

describe('every field', () => {
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__') && !isRoot(type))
    .flatMap((type) =>
      Object.values((type as GraphQLObjectType).getFields())
        .filter((field) => fieldRuleOf(type as GraphQLObjectType, field) !== 'inherited')
        .map((field) => [type.name, field.name, field] as const),
    );

  it.each(fields)('%s.%s of an organization is refused to admins of others, or to all', (type, name, field) => {
    const id = ofAcme.organization;
    const projectId = ofAcme.project;
    const node = {
      ...{ id, organizationId: id, organization: { id }, projectId, detail: { organizationId: id } },
      // A project is its own.
      ...(type === 'Project' && { id: projectId }),
      ...{ project: { id: projectId }, client: { getEntity: () => ({ project: { id: projectId } }) } },
    };
    const ask =
      (organizationId: string, ofProject = projectId) =>
      () => {
        const grants = { owner: false, projects: new Map(), organizations: new Map([[organizationId, ofProject]]) };
        return field.resolve?.(node, {}, { caller: { grants }, operations: new Map() } as never, { path: {} } as never);
      };
    const isListed = listedForOrganizations.fields.includes(`${type}.${name}`);
    const isShared = ['OrganizationRole', 'Project', 'User'].includes(type);
    if (!isShared || !isListed) expect(ask(globexId)).toThrow(Refusal);
    expect(ask(globexId, crypto.randomUUID())).toThrow(Refusal);
    if (isListed) expect(ask(id)).not.toThrow(Refusal);
    else expect(ask(id)).toThrow(Refusal);
  });
});

describe('the role', () => {
  const grant = 'mutation ($input: GrantRoleInput!) { grantRole(input: $input) { role organizations { id } } }';
  const give = (input: object, headers?: Record<string, string>) =>
    harness.call(grant, { input: { projectId: ofAcme.project, role: 'ORGANIZATION_ADMIN', ...input } }, headers);

  it('is given by project admins for organizations of their project, and ends with them', async () => {
    const admin = await harness.tokenOf('project_admin', ofAcme.project);
    const foreign = (await newProjectObjects(harness, 'foreign')).ids;
    const email = 'it@acme.example.com';
    const userId = await harness.person(email);
    expect((await give({ email }, admin)).code).toBe('invalid');
    expect((await give({ email, organizationIds: [] }, admin)).code).toBe('invalid');
    expect((await give({ email, organizationIds: ['x'] }, admin)).code).toBe('not-found');
    expect((await give({ email, organizationIds: [foreign.organization] }, admin)).code).toBe('not-found');
    expect((await give({ email, role: 'PROJECT_VIEWER', organizationIds: [globexId] }, admin)).code).toBe('invalid');
    const input = { email, organizationIds: [ofAcme.organization, globexId], invite: true };
    const { data } = await give(input, admin);
    const organizations = [ofAcme.organization, globexId].map((id) => ({ id }));
    expect(data.grantRole).toEqual({ role: 'ORGANIZATION_ADMIN', organizations });
    const rights = () => harness.services.admins.grantsOfUser(harness.services.db.reader(), userId);
    expect([...(await rights()).organizations.keys()].sort()).toEqual([ofAcme.organization, globexId].sort());
    const temporary = await harness.services.organizations.create(ofAcme.project, { slug: 'tmp', name: 'T' }, system);
    await give({ email, organizationIds: [temporary.id] }, admin);
    await harness.services.organizationEnds.delete(keyIn(ofAcme.project, temporary.id), null, system);
    expect((await rights()).organizations.size).toBe(0);
    const session = await harness.sessionOf(userId);
    expect((await harness.call('{ me { name } }', {}, session)).status).toBe(403);
  });

  it('limits the tokens of its holder, also those from before', async () => {
    const { admins, db } = harness.services;
    const email = 'former@acme.example.com';
    const projectId = ofAcme.project;
    const by = { grants: everything, actor: system };
    const userId = await harness.person(email);
    await admins.grantRole({ email, role: 'project_admin', projectId }, by);
    const maker = { grants: await admins.grantsOfUser(db.reader(), userId), userId, actor: system };
    const wide = await admins.createToken({ name: 'wide', role: 'project_admin', projectId }, maker);
    const one = { name: 'one', role: 'organization_admin', projectId, organizationIds: [globexId] } as const;
    const narrow = await admins.createToken(one, maker);
    await admins.grantRole(
      { email, role: 'organization_admin', projectId, organizationIds: [ofAcme.organization] },
      by,
    );
    const code = async (token: string, query: string) =>
      (await harness.call(query, {}, { Authorization: `Bearer ${token}` })).code;
    const organization = (id: string) => `{ organization(id: "${id}") { name } }`;
    expect(await code(wide.token, `{ clients(projectId: "${projectId}") { totalCount } }`)).toBe('not-found');
    expect(await code(wide.token, organization(ofAcme.organization))).toBeUndefined();
    expect(await code(wide.token, organization(globexId))).toBe('not-found');
    expect(await code(narrow.token, organization(ofAcme.organization))).toBe('forbidden');
    const now = { grants: await admins.grantsOfUser(db.reader(), userId), userId, actor: system };
    for (const role of ['project_viewer', 'project_admin'] as const) {
      await expect(admins.createToken({ name: 'x', role, projectId }, now)).rejects.toThrow();
    }
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

/** The fields of a type that admins of organizations may read. */
function allowed(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  const fields = Object.values((named as GraphQLObjectType).getFields()).filter((field) => {
    const rule = fieldRuleOf(named as GraphQLObjectType, field);
    return (rule === 'inherited' || rule.forOrganizations) && (depth > 0 || isLeafType(getNamedType(field.type)));
  });
  return `{ ${fields.map((field) => `${field.name} ${allowed(field.type, depth - 1)}`).join(' ')} }`;
}
