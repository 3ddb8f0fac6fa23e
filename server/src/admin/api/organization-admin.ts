import type { Grants } from '../../domain/admins/permission.ts';
import type { Owner } from './ownership.ts';

/**
 * What admins of an organization may use (decisions/0412): the operations and fields of these two lists, on their own
 * organizations. All else is refused to them.
 */

/**
 * `itself`: about an object of the organization. `shared`: about its project, with results that all organizations share. `caller`:
 * about the caller.
 */
type Kind = 'itself' | 'shared' | 'caller';

const operations: Readonly<Record<string, Kind>> = {
  me: 'caller',
  administeredOrganizations: 'caller',
  project: 'shared',
  organization: 'itself',
  // People.
  organizationMembers: 'itself',
  organizationMembership: 'itself',
  updateOrganizationMember: 'itself',
  removeOrganizationMember: 'itself',
  organizationRoles: 'shared',
  assignOrganizationRole: 'itself',
  unassignOrganizationRole: 'itself',
  organizationInvitations: 'itself',
  inviteOrganizationMember: 'itself',
  resendOrganizationInvitation: 'itself',
  revokeOrganizationInvitation: 'itself',
  // Domains: proved by their records only.
  addOrganizationDomain: 'itself',
  checkOrganizationDomain: 'itself',
  removeOrganizationDomain: 'itself',
  // Sign-in and directory.
  connection: 'itself',
  createConnection: 'itself',
  updateConnection: 'itself',
  setConnectionState: 'itself',
  testConnection: 'itself',
  deleteConnection: 'itself',
  scimTokens: 'itself',
  issueScimToken: 'itself',
  revokeScimToken: 'itself',
  scimRequests: 'itself',
  directoryHealth: 'itself',
  testDirectory: 'itself',
  // The set-up portal, and events.
  portalLinks: 'itself',
  createPortalLink: 'itself',
  sendPortalLink: 'itself',
  revokePortalLink: 'itself',
  auditEvents: 'itself',
};

/** Undefined: refused to admins of organizations. */
export function kindForOrganizations(operation: string): Kind | undefined {
  return Object.hasOwn(operations, operation) ? operations[operation] : undefined;
}

/** Whether the rights in organizations suffice for an operation about this node. */
export function coversOperation(grants: Grants, kind: Kind | undefined, { projectId, organizationId }: Owner): boolean {
  if (kind === 'itself') return isOf(grants, projectId, organizationId);
  return kind === 'shared' && hasAnyIn(grants, projectId);
}

type OfNode = (grants: Grants, node: never) => boolean;

const isOf = (
  { organizations }: Grants,
  projectId: string | null,
  organizationId: string | null | undefined,
): boolean => projectId !== null && organizationId != null && organizations.get(organizationId) === projectId;
const hasAnyIn = ({ organizations }: Grants, projectId: string | null): boolean =>
  projectId !== null && [...organizations.values()].includes(projectId);

interface InProject {
  project: { id: string };
}
const itself: OfNode = (grants, { id, project }: InProject & { id: string }) => isOf(grants, project.id, id);
const ofProject: OfNode = (grants, { id }: { id: string }) => hasAnyIn(grants, id);
const byReference: OfNode = (grants, node: InProject & { organization?: { id: string } | null }) =>
  isOf(grants, node.project.id, node.organization?.id);
const byId: OfNode = (grants, node: InProject & { organizationId?: string | null }) =>
  isOf(grants, node.project.id, node.organizationId);
const byDetail: OfNode = (grants, node: { projectId: string; detail?: Record<string, unknown> | null }) =>
  isOf(grants, node.projectId, node.detail?.['organizationId'] as string | undefined);
/** Reached only through a field of an organization, or the same for all of them. */
const shared: OfNode = (grants, { project }: InProject) => hasAnyIn(grants, project.id);

const rules = ['slug', 'name', 'state', 'signIn', 'fallback', 'joinByDomain', 'mfaPolicy', 'idleTimeoutSeconds'];
const connections = [
  'acceptsAssertions',
  'callback',
  'createdAt',
  'failures',
  'guide',
  'hasSecret',
  'id',
  'identities',
  'jit',
  'kind',
  'name',
];
const requests = [
  'id',
  'at',
  'tokenName',
  'method',
  'status',
  'scimType',
  'durationMs',
  'userAgent',
  'ignored',
  'path',
];

/** By type. `metadata` of an organization is for the back end of the project. */
const fields: Readonly<Record<string, { of: OfNode; names: readonly string[] }>> = {
  /** For the pages of its organizations: what is switched on. */
  Project: { of: ofProject, names: ['id', 'name', 'organizationsEnabled', 'scimEnabled'] },
  Organization: {
    of: itself,
    names: [
      ...['id', ...rules, 'maxSessionSeconds', 'createdAt', 'updatedAt'],
      ...['memberCount', 'isMemberCountLimited', 'defaultRoles', 'domains', 'connections'],
    ],
  },
  OrganizationRole: { of: shared, names: ['id', 'key', 'name', 'createdAt'] },
  OrganizationMembership: {
    of: byReference,
    names: ['id', 'state', 'source', 'createdAt', 'lastUsedAt', 'organization', 'user', 'isHome', 'roles'],
  },
  User: { of: shared, names: ['id', 'userName', 'displayName', 'email', 'active'] },
  OrganizationInvitation: {
    of: byReference,
    names: [
      ...['id', 'email', 'createdAt', 'sentAt', 'expiresAt', 'acceptedAt', 'revokedAt'],
      ...['organization', 'roles'],
    ],
  },
  OrganizationDomain: {
    of: byReference,
    names: [
      ...['id', 'domain', 'state', 'provedBy', 'reason', 'fault', 'createdAt', 'checkedAt', 'verifiedAt'],
      ...['failingSince', 'record', 'releaseAt', 'unicode'],
    ],
  },
  Connection: {
    of: byId,
    names: [
      ...[...connections, 'lastFailureAt', 'lastSuccessAt', 'mappings', 'oidc', 'organization', 'preset'],
      ...['refreshesProfile', 'roleMappings', 'saml', 'state', 'updatedAt'],
    ],
  },
  ScimToken: {
    of: byReference,
    names: [
      'id',
      'name',
      'hint',
      'networks',
      'createdAt',
      'expiresAt',
      'lastUsedAt',
      'lastUsedAddress',
      'revokedAt',
      'organization',
    ],
  },
  ScimRequest: { of: byId, names: [...requests, 'detail', 'requestBody', 'responseBody'] },
  PortalLink: {
    of: byReference,
    names: [
      ...['id', 'email', 'can', 'returnUrl', 'createdAt', 'usedAt', 'expiresAt', 'completedAt', 'revokedAt'],
      'organization',
    ],
  },
  // IP addresses and browsers, also of admins of the project, stay hidden.
  AuditEvent: { of: byDetail, names: ['id', 'at', 'type', 'result', 'detail', 'actor', 'subject', 'person'] },
};

/** Whether admins of the node's organization may read a field; undefined: none may. */
export function fieldForOrganizations(type: string, field: string): OfNode | undefined {
  const rule = Object.hasOwn(fields, type) ? fields[type] : undefined;
  return rule?.names.includes(field) ? rule.of : undefined;
}

/** For the test that each name exists. */
export const listedForOrganizations = {
  operations: Object.keys(operations),
  fields: Object.entries(fields).flatMap(([type, { names }]) => names.map((name) => `${type}.${name}`)),
};
