import type { Role } from '../domain/admins/membership.entity.ts';
import type { About, OwnedNoun } from './ownership.ts';

export interface OperationRule {
  /** `admin`: whoever has a role somewhere; what they see is theirs. */
  role: Role | 'admin';
  /** Absent, or null for these arguments: the instance. */
  about?: (args: Arguments) => About | null;
  /** Sensitive: asks for a sign-in within {@link freshSeconds}, where the caller is a person. */
  fresh?: boolean | ((args: Arguments) => boolean);
}

/** As GraphQL has checked them against the schema. */
export interface Arguments extends Fields {
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
const byClientId = (args: Arguments): About => ({ noun: 'client', id: args.clientId ?? '' });
const userOf = (args: Arguments): About => ({ noun: 'user', id: String(args['userId'] ?? '') });
const of =
  (noun: OwnedNoun) =>
  (args: Arguments): About => ({ noun, id: (args.input ?? args).id ?? '' });

/** Every operation: the role that it needs, and where. What stands in no row here does not start. */
export const operationRules: Record<'Query' | 'Mutation', Record<string, OperationRule>> = {
  Query: {
    me: { role: 'admin' },
    projects: { role: 'admin' },
    project: { role: 'project_viewer', about: of('project') },
    messages: { role: 'project_viewer', about: project },
    messagePreview: { role: 'project_viewer', about: project },
    messageSenders: { role: 'admin' },
    factorStanding: { role: 'project_viewer', about: project },
    experience: { role: 'project_viewer', about: project },
    experienceVersions: { role: 'project_viewer', about: project },
    accentTheme: { role: 'admin' },
    client: { role: 'project_viewer', about: of('client') },
    clients: { role: 'project_viewer', about: project },
    user: { role: 'project_viewer', about: of('user') },
    users: { role: 'project_viewer', about: project },
    group: { role: 'project_viewer', about: of('group') },
    groups: { role: 'project_viewer', about: project },
    userAccess: { role: 'project_viewer', about: userOf },
    userHoldings: { role: 'project_viewer', about: userOf },
    scimTokens: { role: 'project_viewer', about: project },
    scimRequests: { role: 'project_viewer', about: project },
    activity: { role: 'project_viewer', about: project },
    logoutDeliveries: { role: 'project_viewer', about: project },
    logoutReceivers: { role: 'project_viewer', about: project },
    auditEvents: { role: 'project_viewer', about: project },
    memberships: { role: 'project_viewer', about: project },
    adminTokens: { role: 'project_admin', about: project },
    signingKeys: { role: 'owner' },
    system: { role: 'owner' },
    devMailbox: { role: 'owner' },
  },
  Mutation: {
    createProject: { role: 'owner' },
    updateProject: { role: 'project_admin', about: of('project'), fresh: weakensSignIn },
    updateSessionPolicy: { role: 'project_admin', about: project, fresh: true },
    testSender: { role: 'project_admin', about: project },
    saveExperienceDraft: { role: 'project_admin', about: project },
    discardExperienceDraft: { role: 'project_admin', about: project },
    publishExperience: { role: 'project_admin', about: project },
    revertExperience: { role: 'project_admin', about: project },
    deleteProject: { role: 'owner', about: of('project'), fresh: true },
    createClient: { role: 'project_admin', about: project, fresh: true },
    updateClient: { role: 'project_admin', about: of('client'), fresh: redirectsSecrets },
    deleteClient: { role: 'project_admin', about: of('client'), fresh: true },
    issueApiKey: { role: 'project_admin', about: byClientId, fresh: true },
    beginTrial: { role: 'project_admin', about: byClientId },
    finishTrial: { role: 'project_admin', about: client },
    revokeApiKey: { role: 'project_admin', about: of('api-key') },
    registerDelegationKeys: { role: 'project_admin', about: client, fresh: true },
    rotateDelegationKeys: { role: 'project_admin', about: client, fresh: true },
    revokeDelegationKey: { role: 'project_admin', about: of('delegation-key') },
    changeUsers: { role: 'project_admin', about: project, fresh: takesAway },
    endUserSession: { role: 'project_admin', about: of('session') },
    revokeUserDevice: { role: 'project_admin', about: of('device') },
    retryLogoutDelivery: { role: 'project_admin', about: of('logout-delivery') },
    issueScimToken: { role: 'project_admin', about: project, fresh: true },
    testDirectory: { role: 'project_admin', about: project },
    revokeScimToken: { role: 'project_admin', about: of('scim-token') },
    grantRole: { role: 'project_admin', about: project, fresh: true },
    revokeRole: { role: 'project_admin', about: of('membership'), fresh: true },
    issueAdminToken: { role: 'project_admin', about: project, fresh: true },
    revokeAdminToken: { role: 'project_admin', about: of('admin-token') },
    rotateSigningKeys: { role: 'owner', fresh: true },
    withdrawSigningKey: { role: 'owner', fresh: true },
  },
};

/** Settings that decide who can sign in, and by what. */
const signInSettings = [
  ...['signUp', 'scimEnabled', 'scimAuthoritative', 'mfaPolicy', 'offeredFactors', 'emailFactor'],
  ...['rememberMfaSeconds', 'deviceTrustSeconds', 'deviceTrustDays', 'smsCountries', 'smsPerDay'],
];

function weakensSignIn({ input = {} }: Arguments): boolean {
  return input['testMode'] === true || signInSettings.some((name) => input[name] != null);
}

/** Settings that decide where codes, tokens and people go, and how a client proves itself. */
const clientAuthSettings = [
  ...['redirectUris', 'postLogoutRedirectUris', 'backchannelLogoutUri'],
  ...['jwks', 'tokenEndpointAuthMethod', 'pkceRequired', 'disabled'],
];

function redirectsSecrets({ input = {} }: Arguments): boolean {
  return clientAuthSettings.some((name) => input[name] !== undefined);
}

/** What cannot be given back. */
function takesAway({ input = {} }: Arguments): boolean {
  return input['action'] === 'erase' || input['action'] === 'reset-factors';
}
