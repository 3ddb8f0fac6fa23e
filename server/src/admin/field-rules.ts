import type { AdminToken } from '../domain/admins/admin-token.entity.ts';
import type { Membership, Role } from '../domain/admins/membership.entity.ts';
import type { AuditEvent } from '../domain/audit/audit-event.entity.ts';
import type { ApiKey } from '../domain/clients/api-key.entity.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import type { DelegationKey } from '../domain/clients/delegation-key.entity.ts';
import type { Message } from '../domain/delivery/message.entity.ts';
import type { ScimToken } from '../domain/directories/scim-token.entity.ts';
import type { LogoutDelivery } from '../domain/logout/logout-delivery.entity.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { Group } from '../domain/users/group.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

export interface NodeRule {
  /** Whose it is. `inherit`: it has no identity of its own; how the caller came to it was checked, and what it holds will be. */
  projectOf: ((node: never) => string | null) | 'inherit';
  /** All fields, by the role that each needs. */
  fields: Partial<Record<Role, readonly string[]>>;
}

const ownProject = (node: Client | User | Group | ScimToken | LogoutDelivery | Message) => node.project.id;
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
        ...[
          'id',
          'name',
          'builtIn',
          'scimEnabled',
          'scimAuthoritative',
          'testMode',
          'signUp',
          'mfaPolicy',
          'offeredFactors',
        ],
        ...['rememberMfaSeconds', 'deviceTrustSeconds', ...policyFields, 'sessionPolicy', 'contents'],
        ...['emailFactor', 'deviceTrustDays', 'smsCountries', 'smsPerDay'],
        ...['version', 'createdAt', 'updatedAt'],
      ],
    },
  },
  SessionPolicy: { projectOf: (project: Project) => project.id, fields: { project_viewer: policyFields } },
  FactorStanding: inherit('activeUsers', 'withFactor', 'email', 'sms', 'totp', 'canSendSms'),
  ProjectContents: inherit('users', 'clients', 'sessions', 'scimTokens'),
  Message: {
    projectOf: ownProject,
    fields: {
      project_viewer: [
        ...['id', 'createdAt', 'channel', 'template', 'recipient', 'locale', 'state', 'attempts', 'note'],
        ...['sentAt', 'expiresAt'],
      ],
    },
  },
  MessagePreview: inherit('subject', 'text', 'sms'),
  MessageSender: inherit('channel', 'kind', 'target', 'from', 'variables'),
  SenderDiagnosis: inherit('channel', 'to', 'passed', 'stages'),
  DiagnosisStage: inherit('name', 'state', 'milliseconds', 'detail', 'advice'),
  Experience: inherit(
    ...['published', 'publishedNumber', 'publishedAt', 'publishedBy', 'draft', 'draftVersion'],
    ...['draftUpdatedAt', 'draftUpdatedBy', 'textRules', 'standardMailTexts'],
  ),
  ExperienceContent: inherit('displayName', 'accent', 'logoId', 'darkLogoId', 'texts'),
  ExperienceText: inherit('locale', 'key', 'text'),
  ExperienceTextRule: inherit('key', 'kind', 'maxLength', 'placeholders'),
  ExperienceVersion: inherit('id', 'number', 'publishedAt', 'publishedBy', 'revertedTo', 'content'),
  AccentTheme: inherit('light', 'dark'),
  AccentTones: inherit(
    ...['accent', 'accentStrong', 'onAccent', 'accentText', 'contrast', 'textContrast', 'isAdjusted'],
  ),
  Client: {
    projectOf: ownProject,
    fields: {
      project_viewer: [
        ...['id', 'clientId', 'name', 'builtIn', 'tokenEndpointAuthMethod', 'jwks', 'redirectUris'],
        ...['postLogoutRedirectUris', 'backchannelLogoutUri', 'backchannelLogoutSessionRequired', 'logoutTokenTyp'],
        ...[
          'accessTokenTtlSeconds',
          'pkceRequired',
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
  BegunTrial: inherit('address'),
  TrialResult: inherit(...['client', 'idToken', 'accessToken', 'userInfo', 'scope', 'expiresInSeconds', 'revoked']),
  DecodedToken: inherit('header', 'claims', 'verified'),
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
  Group: {
    projectOf: ownProject,
    fields: {
      project_viewer: ['id', 'displayName', 'externalId', 'memberCount', 'project', 'createdAt', 'updatedAt'],
    },
  },
  ScimToken: {
    projectOf: ownProject,
    fields: {
      project_viewer: ['id', 'name', 'hint', 'project', 'createdAt', 'expiresAt', 'lastUsedAt', 'revokedAt'],
    },
  },
  IssuedScimToken: inherit('token', 'scimToken'),
  DirectoryTestStep: inherit('name', 'proves', 'passed', 'request', 'fault', 'durationMs'),
  ScimRequest: inherit(
    ...['id', 'at', 'tokenName', 'method', 'path', 'status', 'scimType', 'detail', 'durationMs', 'userAgent'],
    ...['requestBody', 'responseBody'],
  ),
  UserAccess: inherit('sessions', 'devices', 'factors', 'recoveryCodesLeft'),
  UserHoldings: inherit(
    ...['sessions', 'devices', 'secondFactors', 'recoveryCodes', 'groups', 'messages', 'events', 'adminRoles'],
  ),
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
  LogoutDelivery: {
    projectOf: ownProject,
    fields: {
      project_viewer: [
        ...['id', 'createdAt', 'state', 'sid', 'jti', 'uri', 'attempts', 'nextAttemptAt', 'deliveredAt'],
        ...['client', 'userId', 'user'],
      ],
    },
  },
  LogoutAttempt: inherit('at', 'status', 'error', 'durationMs'),
  LogoutReceiver: inherit('client', 'delivered', 'pending', 'failed', 'lastDeliveredAt'),
  DayOfActivity: inherit(
    ...['day', 'signIns', 'signInsOnKnownDevices', 'activeUsers', 'codesSent', 'codesVerified', 'codeSeconds'],
    ...['refused', 'logoutsDelivered', 'logoutsFailed', 'scimRequests', 'scimRefused', 'scimFailed'],
  ),
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
  SystemStatus: {
    projectOf: () => null,
    fields: { owner: ['level', 'checks', 'processes', 'database', 'mail', 'sms', 'jobs', 'backup'] },
  },
  SystemCheck: inherit('name', 'level', 'summary', 'advice'),
  Process: inherit(
    ...['id', 'host', 'pid', 'version', 'nodeVersion', 'startedAt', 'seenAt', 'signMicroseconds', 'clockSkewMs'],
  ),
  DatabaseStatus: inherit(
    ...['version', 'sizeBytes', 'connections', 'maxConnections'],
    ...['migrationsApplied', 'migrationsPending', 'migrationsUnknown'],
  ),
  ChannelStatus: inherit('kind', 'lastSentAt', 'lastFailedAt', 'lastFailure'),
  JobQueueStatus: inherit('name', 'waiting', 'deferred', 'active', 'failed'),
  BackupStatus: inherit('takenAt', 'bytes'),
  DevMailboxMessage: { projectOf: () => null, fields: { owner: ['id', 'at', 'channel', 'to', 'subject', 'text'] } },
  PageInfo: inherit('hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'),
  ProjectConnection: pageOf('totalCount'),
  ExperienceVersionConnection: pageOf(),
  ExperienceVersionEdge: inherit('cursor', 'node'),
  MessageConnection: pageOf(),
  MessageEdge: inherit('cursor', 'node'),
  ProjectEdge: inherit('cursor', 'node'),
  ClientConnection: pageOf('totalCount'),
  ClientEdge: inherit('cursor', 'node'),
  UserConnection: pageOf('totalCount'),
  UserEdge: inherit('cursor', 'node'),
  GroupConnection: pageOf('totalCount'),
  GroupEdge: inherit('cursor', 'node'),
  ScimRequestConnection: pageOf(),
  ScimRequestEdge: inherit('cursor', 'node'),
  AuditEventConnection: pageOf(),
  AuditEventEdge: inherit('cursor', 'node'),
  LogoutDeliveryConnection: pageOf(),
  LogoutDeliveryEdge: inherit('cursor', 'node'),
  DevMailboxConnection: pageOf(),
  DevMailboxEdge: inherit('cursor', 'node'),
};
