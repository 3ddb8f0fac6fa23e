import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccessRules } from '../../domain/access/access-rules.ts';
import type { AccountAccess } from '../../domain/accounts/account-access.ts';
import type { Invitations } from '../../domain/accounts/invitations.ts';
import type { NewUsers } from '../../domain/accounts/new-users.ts';
import type { Recoveries } from '../../domain/accounts/recoveries.ts';
import type { UserEdits } from '../../domain/accounts/user-edits.ts';
import type { AdminInvitations } from '../../domain/admins/admin-invitations.ts';
import type { Admins, Granter } from '../../domain/admins/admins.ts';
import type { Apis } from '../../domain/apis/apis.ts';
import type { Trials } from '../../domain/ceremonies/steps/trials.ts';
import type { Claims } from '../../domain/claims/claims.ts';
import type { ClientSecrets } from '../../domain/clients/client-secrets.ts';
import type { Clients } from '../../domain/clients/clients.ts';
import type { Configurations } from '../../domain/configuration/configurations.ts';
import type { Consents } from '../../domain/consents/consents.ts';
import type { DelegationKeys } from '../../domain/delegation/delegation-keys.ts';
import type { Delivery } from '../../domain/delivery/delivery.ts';
import type { SenderTests } from '../../domain/delivery/sender-tests.ts';
import type { ScimTokenInput } from '../../domain/directories/directories.ts';
import type { RequestRecords } from '../../domain/directories/request-records.ts';
import type { ScimToken } from '../../domain/directories/scim-token.entity.ts';
import type { Domains } from '../../domain/domains/domains.ts';
import type { Experiences } from '../../domain/experience/experiences.ts';
import type { SystemStatus } from '../../domain/instance/system-status.ts';
import type { Actor } from '../../domain/kernel/actor.ts';
import type { Database } from '../../domain/kernel/database.ts';
import type { Page, PageRequest } from '../../domain/kernel/page.ts';
import type { Scope } from '../../domain/kernel/scope.ts';
import type { Keys } from '../../domain/keys/keys.ts';
import type { Logout } from '../../domain/logout/logout.ts';
import type { Projects } from '../../domain/projects/projects.ts';
import type { TenantKey } from '../../domain/projects/tenant.ts';
import type { Roles } from '../../domain/roles/roles.ts';
import type { LogStreams } from '../../domain/streams/log-streams.ts';
import type { SignInForecast } from '../../domain/support/view-as.ts';
import type { RefreshGrants } from '../../domain/tokens/refresh-grants.ts';
import type { CustomAttributes } from '../../domain/users/custom/custom-attributes.ts';
import type { LocalGroups } from '../../domain/users/local-groups.ts';
import type { Webhooks } from '../../domain/webhooks/webhooks.ts';
import type { SelfTestStep } from '../directories/self-test.ts';
import type { AdminCaller } from './caller.ts';
import { type Loaders, loadersFor } from './loaders.ts';

/** The part of `Directories` that admins use. */
interface DirectoryTokens {
  issueScimToken(input: ScimTokenInput, actor: Actor): Promise<{ token: string; scimToken: ScimToken }>;
  revokeScimToken(key: TenantKey, actor: Actor): Promise<ScimToken>;
}

/** A mail or SMS in the dev mailbox. */
export interface MailboxMessage {
  id: string;
  at: Date;
  channel: 'mail' | 'sms';
  to: string;
  subject: string | null;
  text: string;
}

/** The dev mailbox, newest first. */
export interface Mailbox {
  list(page: PageRequest): Promise<Page<MailboxMessage>>;
}

/** The parts of the domain that resolvers call. */
export interface AdminDomain {
  projects: Projects;
  configurations: Pick<Configurations, 'document'>;
  clients: Clients;
  clientSecrets: ClientSecrets;
  apis: Apis;
  domains: Domains;
  webhooks: Webhooks;
  logStreams: LogStreams;
  consents: Pick<Consents, 'page' | 'count'>;
  refreshGrants: Pick<RefreshGrants, 'list' | 'count' | 'revoke' | 'revokeAllOf'>;
  localGroups: LocalGroups;
  roles: Roles;
  accessRules: Pick<AccessRules, 'grant' | 'revoke'>;
  claims: Claims;
  forecast: SignInForecast;
  trials: Trials;
  admins: Admins;
  adminInvitations: Pick<AdminInvitations, 'grantRole'>;
  experiences: Experiences;
  delivery: Delivery;
  senderTests: SenderTests;
  delegationKeys: DelegationKeys;
  directories: DirectoryTokens;
  access: AccountAccess;
  recoveries: Pick<Recoveries, 'cancel' | 'grant'>;
  userEdits: Pick<UserEdits, 'edit' | 'editCustom'>;
  invitations: Pick<Invitations, 'invite' | 'revoke'>;
  newUsers: Pick<NewUsers, 'add' | 'addMany'>;
  customAttributes: CustomAttributes;
  directoryTest: { run(projectId: string, actor: Actor): Promise<SelfTestStep[]> };
  requestRecords: Pick<RequestRecords, 'recent'>;
  logout: Pick<Logout, 'retry'>;
  keys: Keys;
  system: Pick<SystemStatus, 'report' | 'version'>;
  /** Null if messages are sent. */
  mailbox: Mailbox | null;
}

/** A request, which contains one or more operations. */
export interface AdminRequest {
  caller: AdminCaller;
  /** The caller in the audit log. */
  actor: Actor;
  requestId: string;
  /** Time of the request. */
  now: Date;
  domain: AdminDomain;
  db: Database;
  /** Lets this browser continue a flow of the hosted page. */
  setFlowCookie(flow: string, secret: string): void;
  /** The authorized ones, by their names in the response. */
  operations: Map<string | number, Operation>;
}

export interface Operation {
  scope: Scope;
  context: AdminContext;
}

/** The context of a resolver. */
export interface AdminContext extends AdminRequest {
  /** The project that the operation is about; null: the instance. */
  projectId: string | null;
  /** Reads of this operation. */
  em: EntityManager;
  loaders: Loaders;
}

/** The context of an operation that is always about a project. */
export interface ProjectContext extends AdminContext {
  projectId: string;
}

export function contextOf(request: AdminRequest, projectId: string | null): AdminContext {
  const em = request.db.reader();
  return { ...request, projectId, em, loaders: loadersFor(em, request.domain) };
}

/** The caller as the granter of a role. */
export function granter({ caller, actor }: AdminContext): Granter {
  return { grants: caller.grants, userId: caller.user?.id, expiresAt: caller.expiresAt, actor };
}

/** Drops null values: for inputs that cannot be cleared, null means absent. */
export function withoutNulls<T extends object>(input: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value != null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
