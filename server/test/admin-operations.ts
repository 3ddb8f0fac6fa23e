/** A project with an object of each kind, and the arguments of each operation of the admin API with their ids. */
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isLeafType,
  isRequiredArgument,
} from 'graphql';
import { operationRuleOf } from '../src/admin/api/access.ts';
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
  const registration = await services.registrationTokens.issue(project.id, { name: 'CI' }, system);
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
  const connectionSecret = `secret of the provider of ${tag}`;
  const oidc = { issuer: `https://${tag}.idp.example.com`, clientId: 'latchkey', clientSecret: connectionSecret };
  const connection = await services.connections.create({ ...of, preset: 'generic', name: 'IdP', oidc }, system);
  const user = await services.db.transaction((em) =>
    services.users.signUp(em, project.id, `ada@${tag}.example.com`, system),
  );
  const group = await services.groups.create(project.id, { displayName: 'Staff', externalId: null }, [user.id], system);
  const localGroup = await services.localGroups.create(project.id, 'On call', system);
  const role = await services.roles.create(client, { key: 'editor', name: 'Editor' }, system);
  const organization = await services.organizations.create(project.id, { slug: 'acme', name: 'Acme' }, system);
  const organizationRole = await services.organizationRoles.create(project.id, { key: 'admin', name: 'Admin' }, system);
  const member = { userId: user.id, roleKeys: ['admin'] };
  const organizationMembership = await services.memberships.add(organization, member, system);
  await services.projects.update(project.id, { organizationsEnabled: true }, system);
  const asked = { email: `eve@${tag}.example.com` };
  const organizationInvitation = await services.organizationInvitations.invite(organization, asked, system);
  const name = `${tag}.example.com`;
  const organizationDomain = await services.organizationDomains.add(organization, name, system);
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
    registrationToken: registration.registrationToken.id,
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
    organization: organization.id,
    organizationRole: organizationRole.id,
    organizationMembership: organizationMembership.id,
    organizationInvitation: organizationInvitation.id,
    organizationDomain: organizationDomain.id,
    session: session.id,
    device: device.id,
    passkey: await harness.passkeyOf(project, user),
    scimToken: scim.scimToken.id,
    membership: membership.id,
    adminToken: token.adminToken.id,
    logoutDelivery: await harness.failedLogout(project, client, user),
    refreshGrant: await harness.refreshGrantOf(client, user),
    consent: await harness.consentOf(client, user),
    signUpRequest: await harness.signUpRequestOf(client),
    accessRule: (await harness.services.accessRules.grant(client, { userId: user.id }, system)).id,
    connection: connection.id,
    logo: (await services.experiences.addLogo(project.id, pngOf(64, 64), system)).id,
  };
  return {
    ids,
    secrets: [String(secretKey), scim.token, token.token, secret, webhookSecret, streamSecret, connectionSecret],
  };
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

const saml = 'urn:oasis:names:tc:SAML:2.0';
const serviceProvider = `<EntityDescriptor xmlns='${saml}:metadata' entityID='urn:wiki'><SPSSODescriptor protocolSupportEnumeration='${saml}:protocol'><AssertionConsumerService index='0' Binding='${saml}:bindings:HTTP-POST' Location='https://wiki.example.com/acs'/></SPSSODescriptor></EntityDescriptor>`;

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

/**
 * Arguments of an operation with ids of the project. For an operation that needs only the id of its node, they are
 * derived from its rule. Any other operation needs a row here; without one, its test fails.
 */
export function argumentsOf(ours: ProjectObjects, name: string): string {
  const { api, client, connection, group, logStream, organization, project, role, user, webhook } = ours;
  const { organizationInvitation: invitation, organizationMembership: membership, organizationRole } = ours;
  const table: Record<string, string> = {
    passkeyModelStanding: `(projectId: "${project}", aaguids: [], roots: [])`,
    messagePreview: `(projectId: "${project}", template: SIGN_IN_CODE, locale: "de")`,
    accentTheme: '(color: "#2f55d4")',
    clients: `(projectId: "${project}", first: 10)`,
    users: `(projectId: "${project}", first: 10)`,
    samlServiceProvider: `(projectId: "${project}", metadata: "${serviceProvider}")`,
    grantAccess: `(input: { clientId: "${client}", groupId: "${group}" })`,
    customAttributeUsers: `(projectId: "${project}", name: "x")`,
    previewClaims: `(clientId: "${client}", userId: "${user}", scopes: ["openid"])`,
    signInHistory: `(projectId: "${project}", about: "access_denied")`,
    viewAs: `(clientId: "${client}", userId: "${user}", scopes: ["openid"])`,
    activity: `(projectId: "${project}", days: 28)`,
    logStreams: `(projectId: "${project}")`,
    createLogStream: `(input: { projectId: "${project}", kind: HTTP, target: "https://x.example.com/" })`,
    updateLogStream: `(input: { id: "${logStream}", paused: true })`,
    connections: `(projectId: "${project}")`,
    createConnection: `(input: { projectId: "${project}", kind: OIDC, name: "IdP", oidc: { issuer: "https://idp.example.com", clientId: "x" } })`,
    updateConnection: `(input: { id: "${connection}", name: "Staff" })`,
    setConnectionState: `(input: { id: "${connection}", state: ENABLED })`,
    createWebhook: `(input: { projectId: "${project}", url: "https://x.example.com/" })`,
    updateWebhook: `(input: { id: "${webhook}", enabled: false })`,
    auditEvents: `(projectId: "${project}")`,
    auditEventGroups: `(projectId: "${project}")`,
    memberships: `(projectId: "${project}")`,
    adminTokens: `(projectId: "${project}")`,
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
    createApi: `(input: { projectId: "${project}", identifier: "urn:x", name: "X", scopes: [{ key: "x", description: "X" }] })`,
    updateApi: `(input: { id: "${api}", name: "X" })`,
    createCustomDomain: `(projectId: "${project}", host: "sso.example.com")`,
    setApiGrant: `(input: { clientId: "${client}", apiId: "${api}", scopes: ["read"] })`,
    createCustomAttribute: `(input: { projectId: "${project}", name: "x", type: STRING })`,
    updateCustomAttribute: `(input: { projectId: "${project}", name: "x" })`,
    deleteCustomAttribute: `(projectId: "${project}", name: "x")`,
    updateCustomValues: `(input: { id: "${user}", values: [] })`,
    createRole: `(input: { clientId: "${client}", key: "x", name: "X" })`,
    updateRole: `(input: { id: "${role}", name: "X" })`,
    assignRole: `(input: { roleId: "${role}", userId: "${user}" })`,
    unassignRole: `(input: { roleId: "${role}", userId: "${user}" })`,
    createOrganization: `(input: { projectId: "${project}", slug: "x", name: "X" })`,
    updateOrganization: `(input: { id: "${organization}", name: "X" })`,
    deleteOrganization: `(input: { id: "${organization}" })`,
    createOrganizationRole: `(input: { projectId: "${project}", key: "x", name: "X" })`,
    updateOrganizationRole: `(input: { id: "${organizationRole}", name: "X" })`,
    inviteOrganizationMember: `(input: { organizationId: "${organization}", email: "x@example.com" })`,
    resendOrganizationInvitation: `(id: "${invitation}")`,
    addOrganizationMember: `(input: { organizationId: "${organization}", userId: "${user}" })`,
    updateOrganizationMember: `(input: { id: "${membership}", state: SUSPENDED })`,
    addOrganizationDomain: `(input: { organizationId: "${organization}", domain: "example.org" })`,
    verifyOrganizationDomain: `(input: { id: "${ours.organizationDomain}", reason: "X" })`,
    assignOrganizationRole: `(input: { membershipId: "${membership}", roleKey: "admin" })`,
    unassignOrganizationRole: `(input: { membershipId: "${membership}", roleKey: "admin" })`,
    createGroup: `(input: { projectId: "${project}", displayName: "X" })`,
    updateGroup: `(input: { id: "${group}", displayName: "X" })`,
    addGroupMembers: `(input: { groupId: "${group}", userIds: ["${user}"] })`,
    removeGroupMembers: `(input: { groupId: "${group}", userIds: ["${user}"] })`,
    updateClaimSettings: `(input: { clientId: "${client}", listLimit: 1 })`,
    createUser: `(input: { projectId: "${project}", userName: "x" })`,
    importUsers: `(input: { projectId: "${project}", rows: [{ userName: "x" }] })`,
    updateUser: `(input: { id: "${user}", givenName: "X" })`,
    issueApiKey: `(clientId: "${client}", kind: SECRET)`,
    grantUserRecovery: `(input: { userId: "${user}", reason: "X" })`,
    finishTrial: `(input: { clientId: "${client}", state: "${client}.x", code: "x" })`,
    registerDelegationKeys: `(input: { clientId: "${client}", signingKey: "x", encryptionKey: "x" })`,
    rotateDelegationKeys: `(input: { clientId: "${client}" })`,
    changeUsers: `(input: { projectId: "${project}", userIds: ["${user}"], action: DEACTIVATE })`,
    issueRegistrationToken: `(input: { projectId: "${project}", name: "X" })`,
    issueScimToken: `(input: { projectId: "${project}", name: "X" })`,
    grantRole: `(input: { email: "x@example.com", role: PROJECT_VIEWER, projectId: "${project}" })`,
    issueAdminToken: `(input: { name: "X", role: PROJECT_VIEWER, projectId: "${project}" })`,
    withdrawSigningKey: '(id: "none")',
  };
  const text = table[name] ?? nodeOf(ours, name);
  if (text === undefined) throw new Error(`This test has no arguments for ${name}`);
  return text;
}

/** The id of the node, if the operation requires no other argument; undefined otherwise. */
function nodeOf(ours: ProjectObjects, name: string): string | undefined {
  const [root, , field] = operations.find((operation) => operation[1] === name) ?? [];
  const type = root === 'Query' ? schema.getQueryType() : schema.getMutationType();
  if (!field || !type) return undefined;
  const required = field.args.filter(isRequiredArgument).map((arg) => arg.name);
  const [[noun, input] = []] = Object.entries(operationRuleOf(type, field).about ?? {});
  if (required.join() !== (input ?? '')) return undefined;
  if (noun === undefined) return '';
  const id = ours[noun.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof ProjectObjects];
  return id && `(${input}: "${id}")`;
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
