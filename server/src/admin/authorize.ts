import { defaultFieldResolver, GraphQLError, type GraphQLSchema, isObjectType } from 'graphql';
import type { AdminToken } from '../domain/admins/admin-token.entity.ts';
import type { Membership, Role } from '../domain/admins/membership.entity.ts';
import { allows, roleIn } from '../domain/admins/permission.ts';
import type { AuditEvent } from '../domain/audit/audit-event.entity.ts';
import type { ApiKey } from '../domain/clients/api-key.entity.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import type { DelegationKey } from '../domain/clients/delegation-key.entity.ts';
import type { ScimToken } from '../domain/directories/scim-token.entity.ts';
import { secondsLater } from '../domain/kernel/clock.ts';
import { type Noun, refuse } from '../domain/kernel/problem.ts';
import { isStorableText } from '../domain/kernel/secret.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import type { Caller } from './caller.ts';
import type { AdminContext } from './context.ts';
import { type About, type OwnedNoun, projectOf } from './ownership.ts';

interface OperationRule {
  /** `admin`: whoever has a role somewhere; what they see is theirs. */
  role: Role | 'admin';
  /** Absent, or null for these arguments: the instance. */
  about?: (args: Arguments) => About | null;
  /** Sensitive: asks for a sign-in within {@link freshSeconds}, where the caller is a person. */
  fresh?: boolean | ((args: Arguments) => boolean);
}

/** As GraphQL has checked them against the schema. */
interface Arguments extends Fields {
  input?: Fields;
  clientId?: string;
}
interface Fields {
  id?: string;
  projectId?: string | null;
  [name: string]: unknown;
}

const project = (args: Arguments): About | null => {
  const id = (args.input ?? args).projectId;
  return id == null ? null : { noun: 'project', id };
};
const client = ({ input = {} }: Arguments): About => ({ noun: 'client', id: String(input['clientId'] ?? '') });
const of =
  (noun: OwnedNoun) =>
  (args: Arguments): About => ({ noun, id: (args.input ?? args).id ?? '' });

/** Every operation: the role that it needs, and where. What stands in no row here does not start. */
export const operationRules: Record<'Query' | 'Mutation', Record<string, OperationRule>> = {
  Query: {
    me: { role: 'admin' },
    projects: { role: 'admin' },
    project: { role: 'project_viewer', about: of('project') },
    client: { role: 'project_viewer', about: of('client') },
    clients: { role: 'project_viewer', about: project },
    user: { role: 'project_viewer', about: of('user') },
    users: { role: 'project_viewer', about: project },
    userAccess: { role: 'project_viewer', about: ({ userId }) => ({ noun: 'user', id: String(userId ?? '') }) },
    scimTokens: { role: 'project_viewer', about: project },
    scimRequests: { role: 'project_viewer', about: project },
    auditEvents: { role: 'project_viewer', about: project },
    memberships: { role: 'project_viewer', about: project },
    adminTokens: { role: 'project_admin', about: project },
    signingKeys: { role: 'owner' },
    devMailbox: { role: 'owner' },
  },
  Mutation: {
    createProject: { role: 'owner' },
    updateProject: { role: 'project_admin', about: of('project'), fresh: weakensSignIn },
    updateSessionPolicy: { role: 'project_admin', about: project },
    deleteProject: { role: 'owner', about: of('project'), fresh: true },
    createClient: { role: 'project_admin', about: project, fresh: true },
    updateClient: { role: 'project_admin', about: of('client'), fresh: redirectsSecrets },
    deleteClient: { role: 'project_admin', about: of('client'), fresh: true },
    issueApiKey: { role: 'project_admin', about: (args) => ({ noun: 'client', id: args.clientId ?? '' }), fresh: true },
    revokeApiKey: { role: 'project_admin', about: of('api-key') },
    registerDelegationKeys: { role: 'project_admin', about: client, fresh: true },
    rotateDelegationKeys: { role: 'project_admin', about: client, fresh: true },
    revokeDelegationKey: { role: 'project_admin', about: of('delegation-key') },
    changeUsers: { role: 'project_admin', about: project, fresh: takesAway },
    endUserSession: { role: 'project_admin', about: of('session') },
    revokeUserDevice: { role: 'project_admin', about: of('device') },
    issueScimToken: { role: 'project_admin', about: project, fresh: true },
    revokeScimToken: { role: 'project_admin', about: of('scim-token') },
    grantRole: { role: 'project_admin', about: project, fresh: true },
    revokeRole: { role: 'project_admin', about: of('membership'), fresh: true },
    issueAdminToken: { role: 'project_admin', about: project, fresh: true },
    revokeAdminToken: { role: 'project_admin', about: of('admin-token') },
    rotateSigningKeys: { role: 'owner', fresh: true },
    withdrawSigningKey: { role: 'owner', fresh: true },
  },
};

/** A second factor that is owed no more, or codes in answers. */
function weakensSignIn({ input = {} }: Arguments): boolean {
  return input['testMode'] === true || input['mfaPolicy'] !== undefined;
}

/** Codes, tokens and the proof of who a client is go where these point. */
function redirectsSecrets({ input = {} }: Arguments): boolean {
  return ['redirectUris', 'backchannelLogoutUri', 'jwks', 'tokenEndpointAuthMethod'].some(
    (name) => input[name] !== undefined,
  );
}

/** What cannot be given back. */
function takesAway({ input = {} }: Arguments): boolean {
  return input['action'] === 'erase' || input['action'] === 'reset-factors';
}

interface NodeRule {
  /** Whose it is. `inherit`: it has no identity of its own; how the caller came to it was checked, and what it holds will be. */
  projectOf: ((node: never) => string | null) | 'inherit';
  /** All fields, by the role that each needs. */
  fields: Partial<Record<Role, readonly string[]>>;
}

const ownProject = (node: Client | User | ScimToken) => node.project.id;
const projectOrInstance = (node: AuditEvent | Membership | AdminToken) => node.project?.id ?? null;
const inherit = (...fields: string[]): NodeRule => ({ projectOf: 'inherit', fields: { project_viewer: fields } });
const pageOf = (...fields: string[]): NodeRule => inherit('edges', 'pageInfo', ...fields);
const policyFields = ['idleTimeoutSeconds', 'maxSessionSeconds', 'idTokenTtlSeconds', 'accessTokenTtlSeconds'];

/** Every field of every type: the role that it needs in the project of its node. */
export const fieldRules: Record<string, NodeRule> = {
  Project: {
    projectOf: (project: Project) => project.id,
    fields: {
      project_viewer: [
        ...['id', 'name', 'builtIn', 'scimEnabled', 'scimAuthoritative', 'testMode', 'signUp', 'mfaPolicy'],
        ...['rememberMfaSeconds', 'deviceTrustSeconds', ...policyFields, 'sessionPolicy', 'contents'],
        ...['version', 'createdAt', 'updatedAt'],
      ],
    },
  },
  SessionPolicy: { projectOf: (project: Project) => project.id, fields: { project_viewer: policyFields } },
  ProjectContents: inherit('users', 'clients', 'sessions', 'scimTokens'),
  Client: {
    projectOf: ownProject,
    fields: {
      project_viewer: [
        ...['id', 'clientId', 'name', 'builtIn', 'tokenEndpointAuthMethod', 'jwks', 'redirectUris'],
        ...['postLogoutRedirectUris', 'backchannelLogoutUri', 'backchannelLogoutSessionRequired', 'logoutTokenTyp'],
        ...[
          'accessTokenTtlSeconds',
          'disabled',
          'project',
          'apiKeys',
          'delegationKeys',
          'version',
          'createdAt',
          'updatedAt',
        ],
      ],
    },
  },
  ApiKey: {
    projectOf: (apiKey: ApiKey) => apiKey.client.getEntity().project.id,
    fields: { project_viewer: ['id', 'kind', 'hint', 'createdAt', 'lastUsedAt', 'revokedAt'] },
  },
  DelegationKey: {
    projectOf: (key: DelegationKey) => key.client.getEntity().project.id,
    fields: {
      project_viewer: [
        ...['id', 'party', 'signingKid', 'encryptionKid', 'signingPublicPem', 'encryptionPublicPem'],
        ...['createdAt', 'expiresAt'],
      ],
    },
  },
  CreatedClient: inherit('client', 'publishableKey', 'secretKey'),
  IssuedApiKey: inherit('apiKey', 'key'),
  User: {
    projectOf: ownProject,
    fields: {
      project_viewer: [
        ...['id', 'userName', 'externalId', 'displayName', 'givenName', 'familyName', 'email', 'phone'],
        ...['active', 'provenance', 'project', 'createdAt', 'updatedAt', 'lastSignInAt'],
      ],
    },
  },
  ScimToken: {
    projectOf: ownProject,
    fields: {
      project_viewer: ['id', 'name', 'hint', 'project', 'createdAt', 'expiresAt', 'lastUsedAt', 'revokedAt'],
    },
  },
  IssuedScimToken: inherit('token', 'scimToken'),
  ScimRequest: inherit(
    ...['id', 'at', 'tokenName', 'method', 'path', 'status', 'scimType', 'detail', 'durationMs', 'userAgent'],
    ...['requestBody', 'responseBody'],
  ),
  UserAccess: inherit('sessions', 'devices', 'factors', 'recoveryCodesLeft'),
  UserSession: inherit(
    ...[
      'id',
      'amr',
      'authTime',
      'createdAt',
      'lastSeenAt',
      'idleExpiresAt',
      'expiresAt',
      'deviceId',
      'ip',
      'userAgent',
    ],
  ),
  UserDevice: inherit('id', 'name', 'remembered', 'trustedUntil', 'createdAt', 'lastUsedAt', 'userAgent', 'client'),
  UserFactor: inherit('id', 'method', 'phone', 'verifiedAt', 'lastUsedAt'),
  ChangedUser: inherit('userId', 'done', 'code', 'message'),
  AuditEvent: {
    projectOf: projectOrInstance,
    fields: {
      project_viewer: [
        ...['id', 'at', 'type', 'result', 'actor', 'subject', 'client', 'project', 'detail'],
        ...['ip', 'userAgent', 'requestId'],
      ],
    },
  },
  AuditActor: inherit('kind', 'id', 'name'),
  AuditSubject: inherit('kind', 'id', 'name'),
  Me: inherit('kind', 'id', 'name', 'grants', 'freshUntil'),
  Grant: inherit('role', 'projectId'),
  Membership: {
    projectOf: projectOrInstance,
    fields: { project_viewer: ['id', 'role', 'admin', 'project', 'createdAt'] },
  },
  Admin: inherit('id', 'name', 'email', 'active', 'lastSignInAt'),
  AdminToken: {
    projectOf: projectOrInstance,
    fields: {
      project_admin: ['id', 'name', 'hint', 'role', 'project', 'createdAt', 'expiresAt', 'lastUsedAt', 'revokedAt'],
    },
  },
  IssuedAdminToken: inherit('token', 'adminToken'),
  SigningKey: {
    projectOf: () => null,
    fields: {
      owner: ['id', 'alg', 'signing', 'createdAt', 'signsFrom', 'signsUntil', 'publishedUntil', 'withdrawnAt'],
    },
  },
  DevMailboxMessage: { projectOf: () => null, fields: { owner: ['id', 'at', 'channel', 'to', 'subject', 'text'] } },
  PageInfo: inherit('hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'),
  ProjectConnection: pageOf('totalCount'),
  ProjectEdge: inherit('cursor', 'node'),
  ClientConnection: pageOf('totalCount'),
  ClientEdge: inherit('cursor', 'node'),
  UserConnection: pageOf('totalCount'),
  UserEdge: inherit('cursor', 'node'),
  ScimRequestConnection: pageOf(),
  ScimRequestEdge: inherit('cursor', 'node'),
  AuditEventConnection: pageOf(),
  AuditEventEdge: inherit('cursor', 'node'),
  DevMailboxConnection: pageOf(),
  DevMailboxEdge: inherit('cursor', 'node'),
};

/** How old a sign-in may be for what is sensitive. */
export const freshSeconds = 15 * 60;

/** Until when the caller may make sensitive changes; null for tokens, which need no sign-in. */
export function freshUntil(caller: Caller): Date | null {
  return caller.authTime ? secondsLater(caller.authTime, freshSeconds) : null;
}

/** Puts its rule before every field of the schema. Throws where a field has none, or a rule no field. */
export function authorizeSchema(schema: GraphQLSchema): GraphQLSchema {
  const known = new Set<string>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    known.add(type.name);
    const isRoot = type.name === 'Query' || type.name === 'Mutation';
    const guards = isRoot ? operationGuards(type.name as 'Query' | 'Mutation') : fieldGuards(type.name);
    for (const field of Object.values(type.getFields())) {
      const guard = guards.get(field.name);
      if (!guard) throw new Error(`authorize.ts has no rule for ${type.name}.${field.name}`);
      guards.delete(field.name);
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (node, args, context: AdminContext, info) => {
        const checked = guard(node, args, context);
        return checked ? checked.then(() => resolve(node, args, context, info)) : resolve(node, args, context, info);
      };
    }
    const [left] = guards.keys();
    if (left !== undefined) throw new Error(`authorize.ts has a rule for ${type.name}.${left}, which is not there`);
  }
  const stray = Object.keys(fieldRules).find((name) => !known.has(name));
  if (stray !== undefined) throw new Error(`authorize.ts has rules for ${stray}, which is not there`);
  return schema;
}

type Guard = (node: unknown, args: Arguments, context: AdminContext) => Promise<void> | undefined;

function operationGuards(root: 'Query' | 'Mutation'): Map<string, Guard> {
  return new Map(
    Object.entries(operationRules[root]).map(([name, rule]) => [
      name,
      (_node, args, context) => checkOperation(rule, args, context),
    ]),
  );
}

function fieldGuards(typeName: string): Map<string, Guard> {
  const rule = fieldRules[typeName];
  const guards = new Map<string, Guard>();
  for (const [role, names] of Object.entries(rule?.fields ?? {})) {
    for (const name of names)
      guards.set(name, (node, _args, context) => checkField(rule as NodeRule, role as Role, node, context));
  }
  return guards;
}

async function checkOperation(rule: OperationRule, args: Arguments, { caller, em, now }: AdminContext): Promise<void> {
  checkText(args);
  if (rule.role !== 'admin') {
    const about = rule.about?.(args) ?? null;
    checkRole(caller, rule.role, about && (await projectOf(em, about)), about?.noun ?? 'project');
  }
  const fresh = typeof rule.fresh === 'function' ? rule.fresh(args) : rule.fresh;
  const until = freshUntil(caller);
  if (fresh && until && until <= now) {
    throw new GraphQLError('Sign in again: this change asks for a fresh sign-in.', {
      extensions: { code: 'reauthentication-required', maxAgeSeconds: freshSeconds },
    });
  }
}

function checkField(rule: NodeRule, role: Role, node: unknown, { caller }: AdminContext): undefined {
  if (rule.projectOf === 'inherit') return;
  checkRole(caller, role, rule.projectOf(node as never), 'project');
}

/** Text that no column could hold is refused here, whatever it is for. */
function checkText(args: Arguments): void {
  const left: unknown[] = [args];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string' && !isStorableText(value)) {
      refuse({ code: 'invalid', field: 'input', reason: 'must not hold NUL or half a character' });
    }
    if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
      // A key of a JSON object is text, too.
      left.push(...Object.keys(value), ...Object.values(value));
    }
  }
}

/** Whoever has no role there at all hears the same as where nothing is. */
function checkRole(caller: Caller, role: Role, projectId: string | null, noun: Noun): void {
  if (allows(caller.grants, role, projectId)) return;
  if (projectId !== null && roleIn(caller.grants, projectId) === null) refuse({ code: 'not-found', what: noun });
  refuse({ code: 'forbidden', reason: `it needs the role ${role}` });
}
