/** A project with an object of each kind, and the arguments of each operation of the admin API with their ids. */
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isLeafType,
  isRequiredArgument,
} from 'graphql';
import { adminSchema } from '../src/admin/schema.ts';
import { system } from '../src/domain/kernel/actor.ts';
import type { AdminHarness, Answer } from './admin-harness.ts';
import { makePair } from './back-end.ts';
import { pngOf } from './pictures.ts';

/** Ids of the objects of a project. */
export type ProjectObjects = Awaited<ReturnType<typeof newProjectObjects>>['ids'];

/** A new project. @param tag distinguishes its values from those of other projects */
export async function newProjectObjects(harness: AdminHarness, tag: string) {
  const { services } = harness;
  const owner = { grants: { owner: true, projects: new Map() }, actor: system };
  const project = await services.projects.create({ name: `Project ${tag}` }, system);
  const of = { projectId: project.id };
  const { client, secretKey } = await services.clients.create({ ...of, name: `App ${tag}` }, system);
  const delegationKey = await services.delegationKeys.register(client, makePair().publicPem, system);
  const [apiKey] = await services.clients.apiKeysOf(services.db.reader(), [client]);
  const { clientSecret, secret } = await services.clientSecrets.issue(client, system);
  const scopes = [{ key: 'read', description: 'Read' }];
  const identifier = `https://${tag}.api.example.com`;
  const api = await services.apis.create({ ...of, identifier, name: 'Orders', scopes }, system);
  const domain = await services.domains.create(project.id, `${tag}.example.com`, system);
  const webhookInput = { url: 'https://hooks.example.com/', types: ['group.deleted'], description: '' };
  const { webhook, secret: webhookSecret } = await services.webhooks.create(project.id, webhookInput, system);
  const webhookDelivery = await services.webhooks.test(webhook, system);
  const streamSecret = 'Bearer secret-of-the-stream';
  const streamed = {
    ...webhookInput,
    target: webhookInput.url,
    format: 'json-lines',
    gzip: false,
    header: null,
  } as const;
  const logStream = await services.logStreams.create(project.id, 'http', { ...streamed, secret: streamSecret }, system);
  const user = await services.db.transaction((em) =>
    services.users.signUp(em, project.id, `ada@${tag}.example.com`, system),
  );
  const group = await services.groups.create(project.id, { displayName: 'Staff', externalId: null }, [user.id], system);
  const localGroup = await services.localGroups.create(project.id, 'On call', system);
  const role = await services.roles.create(client, { key: 'editor', name: 'Editor' }, system);
  const { session, device } = await harness.signedIn(project, user, client.id);
  const scim = await services.directories.issueScimToken({ ...of, name: 'Okta' }, system);
  const viewer = { ...of, email: `v@${tag}.example.com`, role: 'project_viewer' } as const;
  const membership = await services.admins.grantRole(viewer, owner);
  const token = await services.admins.createToken({ ...of, name: 'CI', role: 'project_viewer' }, owner);
  const ids = {
    project: project.id,
    client: client.id,
    apiKey: apiKey?.id ?? '',
    clientSecret: clientSecret.id,
    delegationKey: delegationKey.id,
    api: api.id,
    domain: domain.id,
    webhook: webhook.id,
    webhookDelivery: webhookDelivery.id,
    logStream: logStream.id,
    user: user.id,
    group: group.id,
    localGroup: localGroup.id,
    role: role.id,
    session: session.id,
    device: device.id,
    passkey: await harness.passkeyOf(project, user),
    scimToken: scim.scimToken.id,
    membership: membership.id,
    adminToken: token.adminToken.id,
    logoutDelivery: await harness.failedLogout(project, client, user),
    refreshGrant: await harness.refreshGrantOf(client, user),
    consent: await harness.consentOf(client, user),
    accessRule: (await harness.services.accessRules.grant(client, { userId: user.id }, system)).id,
    logo: (await services.experiences.addLogo(project.id, pngOf(64, 64), system)).id,
  };
  return { ids, secrets: [String(secretKey), scim.token, token.token, secret, webhookSecret, streamSecret] };
}

export type Root = 'Query' | 'Mutation';
type Field = GraphQLField<unknown, unknown>;

const schema = adminSchema();

/** Each query and mutation. */
export const operations = (['Query', 'Mutation'] as const).flatMap((root) =>
  Object.values((root === 'Query' ? schema.getQueryType() : schema.getMutationType())?.getFields() ?? {}).map(
    (field) => [root, field.name, field] as const,
  ),
);

/** Calls an operation about the project, and selects every field. */
export function callOperation(
  harness: AdminHarness,
  ours: ProjectObjects,
  [root, field]: readonly [Root, Field],
  headers: Record<string, string>,
): Promise<Answer> {
  const text = `${root.toLowerCase()} { ${field.name}${argumentsOf(ours, field.name)} ${selection(field.type, 3)} }`;
  return harness.call(text, {}, headers);
}

/** Arguments of an operation with ids of the project; an operation without a row here cannot be tested, and fails. */
export function argumentsOf(ours: ProjectObjects, name: string): string {
  const { project, client, apiKey, delegationKey, user, group, session, device, scimToken, membership, adminToken } =
    ours;
  const { api, clientSecret, consent, domain, logoutDelivery, refreshGrant, passkey, role } = ours;
  const { accessRule, logStream, webhook, webhookDelivery } = ours;
  const table: Record<string, string> = {
    me: '',
    projects: '',
    project: `(id: "${project}")`,
    factorStanding: `(projectId: "${project}")`,
    passkeyModelStanding: `(projectId: "${project}", aaguids: [], roots: [])`,
    messages: `(projectId: "${project}")`,
    messagePreview: `(projectId: "${project}", template: SIGN_IN_CODE, locale: "de")`,
    messageSenders: '',
    experience: `(projectId: "${project}")`,
    experienceVersions: `(projectId: "${project}")`,
    accentTheme: '(color: "#2f55d4")',
    client: `(id: "${client}")`,
    clients: `(projectId: "${project}", first: 10)`,
    api: `(id: "${api}")`,
    apis: `(projectId: "${project}")`,
    customDomains: `(projectId: "${project}")`,
    apiGrants: `(clientId: "${client}")`,
    user: `(id: "${user}")`,
    users: `(projectId: "${project}")`,
    userAccess: `(userId: "${user}")`,
    userHoldings: `(userId: "${user}")`,
    group: `(id: "${group}")`,
    groups: `(projectId: "${project}")`,
    accessRules: `(clientId: "${client}")`,
    usersWithAccess: `(clientId: "${client}")`,
    userApplications: `(userId: "${user}")`,
    grantAccess: `(input: { clientId: "${client}", groupId: "${group}" })`,
    revokeAccess: `(id: "${accessRule}")`,
    consents: `(projectId: "${project}")`,
    refreshGrants: `(projectId: "${project}")`,
    role: `(id: "${role}")`,
    roles: `(clientId: "${client}")`,
    roleAssignments: `(roleId: "${role}")`,
    userRoles: `(userId: "${user}")`,
    customAttributes: `(projectId: "${project}")`,
    customAttributeUsers: `(projectId: "${project}", name: "x")`,
    groupRoles: `(groupId: "${group}")`,
    claimSettings: `(clientId: "${client}")`,
    previewClaims: `(clientId: "${client}", userId: "${user}", scopes: ["openid"])`,
    signInHistory: `(projectId: "${project}", about: "access_denied")`,
    viewAs: `(clientId: "${client}", userId: "${user}", scopes: ["openid"])`,
    scimTokens: `(projectId: "${project}")`,
    scimRequests: `(projectId: "${project}")`,
    activity: `(projectId: "${project}", days: 28)`,
    webhooks: `(projectId: "${project}")`,
    webhook: `(id: "${webhook}")`,
    projectConfiguration: `(projectId: "${project}")`,
    webhookUrl: `(id: "${webhook}")`,
    webhookDeliveries: `(webhookId: "${webhook}")`,
    webhookDelivery: `(id: "${webhookDelivery}")`,
    logStreams: `(projectId: "${project}")`,
    logStream: `(id: "${logStream}")`,
    logStreamTarget: `(id: "${logStream}")`,
    createLogStream: `(input: { projectId: "${project}", kind: HTTP, target: "https://x.example.com/" })`,
    updateLogStream: `(input: { id: "${logStream}", paused: true })`,
    testLogStream: `(id: "${logStream}")`,
    deleteLogStream: `(id: "${logStream}")`,
    createWebhook: `(input: { projectId: "${project}", url: "https://x.example.com/" })`,
    updateWebhook: `(input: { id: "${webhook}", enabled: false })`,
    rotateWebhookSecret: `(id: "${webhook}")`,
    testWebhook: `(id: "${webhook}")`,
    replayWebhookDelivery: `(id: "${webhookDelivery}")`,
    replayFailedWebhookDeliveries: `(webhookId: "${webhook}")`,
    deleteWebhook: `(id: "${webhook}")`,
    logoutDeliveries: `(projectId: "${project}")`,
    logoutReceivers: `(projectId: "${project}")`,
    auditEvents: `(projectId: "${project}")`,
    auditEventGroups: `(projectId: "${project}")`,
    memberships: `(projectId: "${project}")`,
    adminTokens: `(projectId: "${project}")`,
    signingKeys: '',
    system: '',
    devMailbox: '',
    testSender: `(input: { projectId: "${project}", channel: MAIL })`,
    saveExperienceDraft: `(input: { projectId: "${project}", displayName: "X" })`,
    discardExperienceDraft: `(input: { projectId: "${project}" })`,
    publishExperience: `(input: { projectId: "${project}" })`,
    revertExperience: `(input: { projectId: "${project}", number: 1 })`,
    createProject: '(input: { name: "X" })',
    updateProject: `(input: { id: "${project}", name: "X" })`,
    updateSessionPolicy: `(input: { projectId: "${project}", idTokenTtlSeconds: 61 })`,
    deleteProject: `(input: { id: "${project}", confirmName: "X" })`,
    createClient: `(input: { projectId: "${project}", name: "X" })`,
    updateClient: `(input: { id: "${client}", name: "X" })`,
    deleteClient: `(id: "${client}")`,
    createApi: `(input: { projectId: "${project}", identifier: "urn:x", name: "X", scopes: [{ key: "x", description: "X" }] })`,
    updateApi: `(input: { id: "${api}", name: "X" })`,
    deleteApi: `(id: "${api}")`,
    createCustomDomain: `(projectId: "${project}", host: "sso.example.com")`,
    checkCustomDomain: `(id: "${domain}")`,
    deleteCustomDomain: `(id: "${domain}")`,
    setApiGrant: `(input: { clientId: "${client}", apiId: "${api}", scopes: ["read"] })`,
    createCustomAttribute: `(input: { projectId: "${project}", name: "x", type: STRING })`,
    updateCustomAttribute: `(input: { projectId: "${project}", name: "x" })`,
    deleteCustomAttribute: `(projectId: "${project}", name: "x")`,
    updateCustomValues: `(input: { id: "${user}", values: [] })`,
    createRole: `(input: { clientId: "${client}", key: "x", name: "X" })`,
    updateRole: `(input: { id: "${role}", name: "X" })`,
    deleteRole: `(id: "${role}")`,
    assignRole: `(input: { roleId: "${role}", userId: "${user}" })`,
    unassignRole: `(input: { roleId: "${role}", userId: "${user}" })`,
    createGroup: `(input: { projectId: "${project}", displayName: "X" })`,
    updateGroup: `(input: { id: "${group}", displayName: "X" })`,
    deleteGroup: `(id: "${group}")`,
    addGroupMembers: `(input: { groupId: "${group}", userIds: ["${user}"] })`,
    removeGroupMembers: `(input: { groupId: "${group}", userIds: ["${user}"] })`,
    updateClaimSettings: `(input: { clientId: "${client}", listLimit: 1 })`,
    createUser: `(input: { projectId: "${project}", userName: "x" })`,
    importUsers: `(input: { projectId: "${project}", rows: [{ userName: "x" }] })`,
    inviteUser: `(userId: "${user}")`,
    revokeInvitation: `(userId: "${user}")`,
    updateUser: `(input: { id: "${user}", givenName: "X" })`,
    issueApiKey: `(clientId: "${client}", kind: SECRET)`,
    issueClientSecret: `(clientId: "${client}")`,
    revokeClientSecret: `(id: "${clientSecret}")`,
    revokeRefreshGrant: `(id: "${refreshGrant}")`,
    revokeConsent: `(id: "${consent}")`,
    revokeRefreshGrants: `(clientId: "${client}")`,
    grantUserRecovery: `(input: { userId: "${user}", reason: "X" })`,
    cancelUserRecovery: `(userId: "${user}")`,
    beginTrial: `(clientId: "${client}")`,
    finishTrial: `(input: { clientId: "${client}", state: "${client}.x", code: "x" })`,
    revokeApiKey: `(id: "${apiKey}")`,
    registerDelegationKeys: `(input: { clientId: "${client}", signingKey: "x", encryptionKey: "x" })`,
    rotateDelegationKeys: `(input: { clientId: "${client}" })`,
    revokeDelegationKey: `(id: "${delegationKey}")`,
    changeUsers: `(input: { projectId: "${project}", userIds: ["${user}"], action: DEACTIVATE })`,
    endUserSession: `(id: "${session}")`,
    revokeUserDevice: `(id: "${device}")`,
    revokeUserPasskey: `(id: "${passkey}")`,
    retryLogoutDelivery: `(id: "${logoutDelivery}")`,
    issueScimToken: `(input: { projectId: "${project}", name: "X" })`,
    testDirectory: `(projectId: "${project}")`,
    revokeScimToken: `(id: "${scimToken}")`,
    grantRole: `(input: { email: "x@example.com", role: PROJECT_VIEWER, projectId: "${project}" })`,
    revokeRole: `(id: "${membership}")`,
    issueAdminToken: `(input: { name: "X", role: PROJECT_VIEWER, projectId: "${project}" })`,
    revokeAdminToken: `(id: "${adminToken}")`,
    rotateSigningKeys: '',
    withdrawSigningKey: '(id: "none")',
  };
  const text = table[name];
  if (text === undefined) throw new Error(`This test has no arguments for ${name}`);
  return text;
}

/** Everything that the type offers without arguments, as deep as the limits allow. */
export function selection(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  const fields = Object.values((named as GraphQLObjectType).getFields()).filter(
    (field) => !field.args.some(isRequiredArgument) && (depth > 0 || isLeafType(getNamedType(field.type))),
  );
  return `{ ${fields.map((field) => `${field.name} ${selection(field.type, depth - 1)}`).join(' ')} }`;
}
