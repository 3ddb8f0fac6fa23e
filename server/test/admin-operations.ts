/** A project with an object of each kind, and the arguments of each operation of the admin API with their ids. */
import {
  GraphQLBoolean,
  type GraphQLField,
  GraphQLID,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
} from 'graphql';
import { operationRuleOf } from '../src/admin/api/access.ts';
import { adminSchema } from '../src/admin/schema.ts';
import { system } from '../src/domain/kernel/actor.ts';
import type { AdminHarness, Answer } from './admin-harness.ts';
import { makePair } from './back-end.ts';
import { addObjects } from './project-objects.ts';

/** Ids of the objects of a project. */
export type ProjectObjects = Awaited<ReturnType<typeof newProjectObjects>>['ids'];

/** A new project. @param tag distinguishes its values from those of other projects */
export async function newProjectObjects(harness: AdminHarness, tag: string) {
  const { services } = harness;
  const owner = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
  const project = await services.projects.create({ name: `Project ${tag}` }, system);
  const of = { projectId: project.id };
  const { client, secretKey } = await services.clients.create({ ...of, name: `App ${tag}` }, system);
  const delegationKey = await services.delegationKeys.register(client, makePair().publicPem, system);
  const [apiKey] = await services.clients.apiKeysOf(services.db.reader(), [client]);
  const { clientSecret, secret } = await services.clientSecrets.issue(client, system);
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
  const objects = await addObjects(services, { ...of, clientId: client.id, userId: user.id, tag });
  const { session, device } = await harness.signedIn(project, user, client.id);
  const viewer = { ...of, email: `v@${tag}.example.com`, role: 'project_viewer' } as const;
  const membership = await services.admins.grantRole(viewer, owner);
  const token = await services.admins.createToken({ ...of, name: 'CI', role: 'project_viewer' }, owner);
  const ids = {
    ...objects.ids,
    project: project.id,
    client: client.id,
    apiKey: apiKey?.id ?? '',
    clientSecret: clientSecret.id,
    delegationKey: delegationKey.id,
    webhook: webhook.id,
    webhookDelivery: webhookDelivery.id,
    logStream: logStream.id,
    user: user.id,
    session: session.id,
    device: device.id,
    passkey: await harness.passkeyOf(project, user),
    membership: membership.id,
    adminToken: token.adminToken.id,
    logoutDelivery: await harness.failedLogout(project, client, user),
    refreshGrant: await harness.refreshGrantOf(client, user),
    consent: await harness.consentOf(client, user),
    signUpRequest: await harness.signUpRequestOf(client),
  };
  const { scimToken, connectionSecret } = objects;
  const secrets = [String(secretKey), scimToken, token.token, secret, webhookSecret, streamSecret, connectionSecret];
  return { ids, secrets };
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

/** Calls an operation about the project, and selects every field, as deep as the limits on requests allow. */
export async function callOperation(
  harness: AdminHarness,
  ours: ProjectObjects,
  [root, field]: readonly [Root, Field],
  headers: Record<string, string>,
): Promise<Answer> {
  const called = `${field.name}${argumentsOf(ours, field.name)}`;
  for (let depth = 3; ; depth -= 1) {
    const answer = await harness.call(
      `${root.toLowerCase()} { ${called} ${selection(field.type, depth)} }`,
      {},
      headers,
    );
    if (answer.code !== 'too-complex' || depth === 0) return answer;
  }
}

/** Arguments of an operation with ids of the project: from the table, or derived from the schema. */
export function argumentsOf(ours: ProjectObjects, name: string): string {
  const { api, client, connection, group, logStream, organizationMembership: membership } = ours;
  const { project, role, user, webhook } = ours;
  const table: Record<string, string> = {
    passkeyModelStanding: `(projectId: "${project}", aaguids: [], roots: [])`,
    messagePreview: `(projectId: "${project}", template: SIGN_IN_CODE, locale: "de")`,
    accentTheme: '(color: "#2f55d4")',
    samlServiceProvider: `(projectId: "${project}", metadata: "${serviceProvider}")`,
    grantAccess: `(input: { clientId: "${client}", groupId: "${group}" })`,
    previewClaims: `(clientId: "${client}", userId: "${user}", scopes: ["openid"])`,
    signInHistory: `(projectId: "${project}", about: "access_denied")`,
    viewAs: `(clientId: "${client}", userId: "${user}", scopes: ["openid"])`,
    updateLogStream: `(input: { id: "${logStream}", paused: true })`,
    createConnection: `(input: { projectId: "${project}", kind: OIDC, name: "IdP", oidc: { issuer: "https://idp.example.com", clientId: "x" } })`,
    setConnectionState: `(input: { id: "${connection}", state: ENABLED })`,
    updateWebhook: `(input: { id: "${webhook}", enabled: false })`,
    saveExperienceDraft: `(input: { projectId: "${project}", displayName: "X" })`,
    updateSessionPolicy: `(input: { projectId: "${project}", idTokenTtlSeconds: 61 })`,
    setApiGrant: `(input: { clientId: "${client}", apiId: "${api}", scopes: ["read"] })`,
    updateCustomValues: `(input: { id: "${user}", values: [] })`,
    assignRole: `(input: { roleId: "${role}", userId: "${user}" })`,
    unassignRole: `(input: { roleId: "${role}", userId: "${user}" })`,
    updateOrganizationMember: `(input: { id: "${membership}", state: SUSPENDED })`,
    assignOrganizationRole: `(input: { membershipId: "${membership}", roleKey: "admin" })`,
    unassignOrganizationRole: `(input: { membershipId: "${membership}", roleKey: "admin" })`,
    updateClaimSettings: `(input: { clientId: "${client}", listLimit: 1 })`,
    createUser: `(input: { projectId: "${project}", userName: "x" })`,
    importUsers: `(input: { projectId: "${project}", rows: [{ userName: "x" }] })`,
    updateUser: `(input: { id: "${user}", givenName: "X" })`,
    issueApiKey: `(clientId: "${client}", kind: SECRET)`,
    finishTrial: `(input: { clientId: "${client}", state: "${client}.x", code: "x" })`,
    changeUsers: `(input: { projectId: "${project}", userIds: ["${user}"], action: DEACTIVATE })`,
    grantRole: `(input: { email: "x@example.com", role: PROJECT_VIEWER, projectId: "${project}" })`,
    issueAdminToken: `(input: { name: "X", role: PROJECT_VIEWER, projectId: "${project}" })`,
    withdrawSigningKey: '(id: "none")',
  };
  return table[name] ?? derivedArguments(ours, name);
}

/** Text that a field of this name accepts. Default: x. */
const texts: Record<string, string> = {
  domain: 'example.org',
  email: 'x@example.com',
  host: 'sso.example.com',
  identifier: 'urn:x',
  target: 'https://x.example.com/',
  url: 'https://x.example.com/',
};

/**
 * The required arguments, and those that most operations need although they are optional. An id is that of the operation's node,
 * or of the object that it is named after.
 */
function derivedArguments(ours: ProjectObjects, name: string): string {
  const [root, , field] = operations.find((operation) => operation[1] === name) ?? [];
  const type = root === 'Query' ? schema.getQueryType() : schema.getMutationType();
  if (!field || !type) throw new Error(`No operation is named ${name}`);
  const about = Object.entries(operationRuleOf(type, field).about ?? {});

  function valueOf(of: GraphQLInputType, input: string): string {
    const inner = getNullableType(of);
    if (isListType(inner)) return `[${valueOf(inner.ofType, input.replace(/s$/, ''))}]`;
    if (isEnumType(inner)) return inner.getValues()[0]?.name ?? '';
    if (isInputObjectType(inner)) return `{ ${given(Object.values(inner.getFields()))} }`;
    if (inner === GraphQLID) return `"${idOf(input)}"`;
    return inner === GraphQLString ? `"${texts[input] ?? 'x'}"` : inner === GraphQLBoolean ? 'true' : '10';
  }
  function idOf(input: string): string {
    const noun = about.find(([, one]) => one === input)?.[0] ?? input.replace(/Id$/, '');
    const id = ours[noun.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof ProjectObjects];
    if (!id) throw new Error(`addObjects adds no ${noun}, which ${name} needs`);
    return id;
  }
  const given = (inputs: readonly { name: string; type: GraphQLInputType }[]) =>
    inputs
      .filter((input) => isNonNullType(input.type) || ['projectId', 'name', 'first'].includes(input.name))
      .map((input) => `${input.name}: ${valueOf(input.type, input.name)}`)
      .join(', ');
  const text = given(field.args);
  return text && `(${text})`;
}

/** Everything that the type offers without arguments. */
export function selection(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  const fields = Object.values((named as GraphQLObjectType).getFields()).filter(
    (field) => !field.args.some(isRequiredArgument) && (depth > 0 || isLeafType(getNamedType(field.type))),
  );
  return `{ ${fields.map((field) => `${field.name} ${selection(field.type, depth - 1)}`).join(' ')} }`;
}
