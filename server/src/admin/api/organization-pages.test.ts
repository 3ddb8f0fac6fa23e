/** The pages of the console for admins of organizations: they send nothing that is refused to them (decisions/0412). */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { newProjectObjects } from '../../../test/admin-operations.ts';
import { system } from '../../domain/kernel/actor.ts';

const consoleFolder = new URL('../../../../console/admin/', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(consoleFolder, path), 'utf8');

/** The texts of the operations of the console, by name. */
const texts = new Map(
  [...read('generated/operations.ts').matchAll(/from '\.\/(texts\/\w+\.ts)'/g)].flatMap(([, path]) =>
    [...read(`generated/${path}`).matchAll(/^export const (\w+) = (".*") as /gm)].map(
      ([, name, text]) => [name as string, JSON.parse(text as string) as string] as const,
    ),
  ),
);

/** What the pages of an organization send for its admins, with `inProject: false`. */
const sent = [
  ...['Session', 'Frame', 'AdministeredOrganizations', 'AdministeredOrganization', 'ProjectOutline'],
  ...['OrganizationById', 'OrganizationMembers', 'OrganizationRoles', 'OrganizationInvitations', 'OrganizationDomains'],
  ...['OrganizationConnections', 'ConnectionById', 'ScimTokens', 'ScimRequests', 'PortalLinks', 'AuditEvents'],
  ...['InviteOrganizationMember', 'ResendOrganizationInvitation', 'RevokeOrganizationInvitation'],
  ...['UpdateOrganizationMember', 'AssignOrganizationRole', 'UnassignOrganizationRole', 'RemoveOrganizationMember'],
  ...['AddOrganizationDomain', 'CheckOrganizationDomain', 'RemoveOrganizationDomain'],
  ...['CreateConnection', 'UpdateConnection', 'SetConnectionState', 'TestConnection', 'DeleteConnection'],
  ...['IssueScimToken', 'RevokeScimToken', 'TestDirectory', 'CreatePortalLink', 'SendPortalLink', 'RevokePortalLink'],
] as const;

/** What the same modules send for people with a role in the project only. */
const ofProject = [
  ...['Organizations', 'CreateOrganization', 'UpdateOrganization', 'DeleteOrganization', 'OrganizationHome'],
  ...['CreateOrganizationRole', 'UpdateOrganizationRole', 'DeleteOrganizationRole'],
  ...['AddOrganizationMember', 'SearchMembers', 'VerifyOrganizationDomain', 'Connections'],
  // Definitions of attributes, from the inspector, and addresses, from an event.
  ...[
    'CreateCustomAttribute',
    'UpdateCustomAttribute',
    'CustomAttributes',
    'ClientById',
    'UpdateClient',
    'ProjectById',
  ],
];

let harness: AdminHarness;
let ids: Record<string, string>;
let acme: Record<string, string>;

beforeAll(async () => {
  harness = await openAdminHarness();
  const { services } = harness;
  const { ids: objects } = await newProjectObjects(harness, 'ours');
  const { project: projectId, organization: organizationId } = objects;
  const home = { projectId, organizationId };
  const oidc = { issuer: 'https://acme.idp.example.com', clientId: 'latchkey' };
  const wanted = { ...home, kind: 'oidc', preset: 'generic', name: 'Acme IdP', oidc } as const;
  const connection = await services.connections.create(wanted, system);
  const { scimToken } = await services.directories.issueScimToken({ ...home, name: 'Acme' }, system);
  ids = { ...objects, connection: connection.id, scimToken: scimToken.id };
  acme = await harness.tokenOf('organization_admin', projectId, [organizationId]);
});
afterAll(() => harness.close());

/** Of a query that has no row here. */
const of = (name: string): object => {
  const { project, organization: organizationId, organizationMembership: id } = ids;
  const rows: Record<string, object> = {
    Frame: { id: '', hasProject: false, isOwner: false },
    AdministeredOrganization: { projectId: project, organizationId, inProject: false },
    ProjectOutline: { id: project },
    OrganizationRoles: { projectId: project },
    ConnectionById: { id: ids.connection },
    AuditEvents: { organizationId, first: 25, inProject: false },
    InviteOrganizationMember: { input: { organizationId, email: 'new@example.com', roleKeys: ['admin'] } },
    ResendOrganizationInvitation: { id: ids.organizationInvitation },
    RevokeOrganizationInvitation: { id: ids.organizationInvitation },
    UpdateOrganizationMember: { input: { id, state: 'SUSPENDED' } },
    AssignOrganizationRole: { input: { membershipId: id, roleKey: 'admin' } },
    UnassignOrganizationRole: { input: { membershipId: id, roleKey: 'admin' } },
    RemoveOrganizationMember: { id },
    AddOrganizationDomain: { input: { organizationId, domain: 'acme.example.org' } },
    CheckOrganizationDomain: { id: ids.organizationDomain },
    RemoveOrganizationDomain: { id: ids.organizationDomain },
    CreateConnection: { input: { organizationId, kind: 'OIDC', preset: 'okta', name: 'Okta' } },
    UpdateConnection: { input: { id: ids.connection, name: 'Renamed' } },
    SetConnectionState: { input: { id: ids.connection, state: 'ENABLED' } },
    TestConnection: { id: ids.connection },
    DeleteConnection: { id: ids.connection },
    IssueScimToken: { input: { organizationId, name: 'Two' } },
    RevokeScimToken: { id: ids.scimToken },
    CreatePortalLink: { input: { organizationId, email: 'it@example.com', can: ['DOMAINS'] } },
    SendPortalLink: { id: ids.portalLink },
    RevokePortalLink: { id: ids.portalLink },
  };
  return rows[name] ?? { id: organizationId, organizationId, inProject: false };
};

it.each(sent)('%s is allowed', async (name) => {
  const answer = await harness.call(texts.get(name) ?? name, of(name), acme);
  const refusals = answer.errors.map(({ extensions }) => extensions?.code);
  expect(refusals.filter((code) => ['forbidden', 'not-found', 'unauthenticated'].includes(code))).toEqual([]);
  // Other refusals are about the objects of this test, and never about the query.
  expect(answer.errors.filter(({ extensions }) => extensions?.code === undefined)).toEqual([]);
});

/** The modules that the pages load, without those of their area that are pages of the project. */
function modulesFrom(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path) || path.startsWith('generated/')) return found;
  found.add(path);
  for (const [, next] of read(path).matchAll(/(?:from |import\()'(\.[^']+\.tsx?)'/g)) {
    const target = join(dirname(path), next as string);
    if (existsSync(join(consoleFolder, target))) modulesFrom(target, found);
  }
  return found;
}

it('is complete: each operation of the modules of these pages is in one of the two lists', () => {
  const used = new Set<string>();
  for (const path of modulesFrom('groups/administered-page.tsx')) {
    for (const [, names] of read(path).matchAll(/import \{([^}]*)\} from '[./]*generated\/operations\.ts'/g)) {
      for (const name of names?.split(',') ?? []) used.add((name.trim().split(' as ')[0] ?? '').trim());
    }
  }
  const operations = [...used].filter((name) => texts.has(name));
  const listed: readonly string[] = [...sent, ...ofProject];
  expect(operations.filter((name) => !listed.includes(name))).toEqual([]);
  expect(ofProject.filter((name) => !operations.includes(name))).toEqual([]);
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
