import {
  type GraphQLField,
  GraphQLID,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminRoom, type Answer, openAdminRoom } from '../../../test/admin-room.ts';
import { makePair } from '../../../test/back-end.ts';
import { system } from '../../domain/kernel/actor.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import { adminSchema } from '../schema.ts';
import { fieldRuleOf, isRoot, operationRuleOf } from './access.ts';
import { authorizeSchema } from './authorize.ts';

const schema = adminSchema();
let room: AdminRoom;
/** IDs of the requested project and its objects. */
let ours: Record<
  | 'project'
  | 'client'
  | 'apiKey'
  | 'clientSecret'
  | 'delegationKey'
  | 'api'
  | 'user'
  | 'group'
  | 'role'
  | 'session'
  | 'device'
  | 'passkey'
  | 'scimToken'
  | 'membership'
  | 'adminToken'
  | 'logoutDelivery'
  | 'domain'
  | 'webhook'
  | 'webhookDelivery'
  | 'logStream'
  | 'refreshGrant'
  | 'consent',
  string
>;
let secrets: string[];
let viewer: Record<string, string>;
let foreignAdmin: Record<string, string>;

beforeAll(async () => {
  room = await openAdminRoom();
  const { projects, clients, delegationKeys, users, groups, directories, admins, db } = room.services;
  const owner = { grants: { owner: true, projects: new Map() }, actor: system };
  const project = await projects.create({ name: 'Ours' }, system);
  const foreign = await projects.create({ name: 'Theirs' }, system);
  const { client, secretKey } = await clients.create({ projectId: project.id, name: 'App' }, system);
  const delegationKey = await delegationKeys.register(client, makePair().publicPem, system);
  const [apiKey] = await clients.apiKeysOf(db.reader(), [client]);
  const { clientSecret, secret } = await room.services.clientSecrets.issue(client, system);
  const scopes = [{ key: 'read', description: 'Read' }];
  const apiValues = { projectId: project.id, identifier: 'https://api.example.com', name: 'Orders', scopes };
  const api = await room.services.apis.create(apiValues, system);
  const domain = await room.services.domains.create(project.id, 'login.example.com', system);
  const hooked = { url: 'https://hooks.example.com/', types: ['group.deleted'], description: '' };
  const { webhook, secret: webhookSecret } = await room.services.webhooks.create(project.id, hooked, system);
  const webhookDelivery = await room.services.webhooks.test(webhook, system);
  const streamSecret = 'Bearer secret-of-the-stream';
  const streamed = { ...hooked, target: hooked.url, format: 'json-lines', gzip: false, header: null } as const;
  const logStream = await room.services.logStreams.create(
    project.id,
    'http',
    { ...streamed, secret: streamSecret },
    system,
  );
  const user = await db.transaction((em) => users.signUp(em, project.id, 'ada@example.com', system));
  const group = await groups.create(project.id, { displayName: 'Staff', externalId: null }, [user.id], system);
  const values = { key: 'editor', name: 'Editor' };
  const role = await room.services.roles.create(client, values, system);
  const { session, device } = await room.signedIn(project, user, client.id);
  const passkey = await room.passkeyOf(project, user);
  const logoutDelivery = await room.failedLogout(project, client, user);
  const scim = await directories.issueScimToken({ projectId: project.id, name: 'Okta' }, system);
  const membership = await admins.grantRole(
    { email: 'v@example.com', role: 'project_viewer', projectId: project.id },
    owner,
  );
  const token = await admins.createToken({ name: 'CI', role: 'project_viewer', projectId: project.id }, owner);
  ours = {
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
    role: role.id,
    session: session.id,
    device: device.id,
    passkey,
    scimToken: scim.scimToken.id,
    membership: membership.id,
    adminToken: token.adminToken.id,
    logoutDelivery,
    refreshGrant: await room.refreshGrantOf(client, user),
    consent: await room.consentOf(client, user),
  };
  secrets = [secretKey, scim.token, token.token, secret, webhookSecret, streamSecret];
  viewer = await room.tokenOf('project_viewer', project.id);
  foreignAdmin = await room.tokenOf('project_admin', foreign.id);
});
afterAll(() => room.close());

type Root = 'Query' | 'Mutation';
const operations = (['Query', 'Mutation'] as const).flatMap((root) =>
  Object.values((root === 'Query' ? schema.getQueryType() : schema.getMutationType())?.getFields() ?? {}).map(
    (field) => [root, field.name, field] as const,
  ),
);

function roleFor(root: Root, name: string) {
  const type = schema.getType(root) as GraphQLObjectType;
  return operationRuleOf(type, type.getFields()[name] as GraphQLField<unknown, unknown>).role;
}

/** Arguments for each operation, with ids of our project; an operation without a row here cannot be tested, and fails. */
function argumentsOf(name: string): string {
  const { project, client, apiKey, delegationKey, user, group, session, device, scimToken, membership, adminToken } =
    ours;
  const { api, clientSecret, consent, domain, logoutDelivery, refreshGrant, passkey, role } = ours;
  const { logStream, webhook, webhookDelivery } = ours;
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
    deleteProject: `(input: { id: "${project}", confirmName: "Wrong" })`,
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

/** All fields of the type, up to the depth limit. */
function selection(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  const fields = Object.values((named as GraphQLObjectType).getFields()).filter(
    (field) => field.args.length === 0 && (depth > 0 || isLeafType(getNamedType(field.type))),
  );
  return `{ ${fields.map((field) => `${field.name} ${selection(field.type, depth - 1)}`).join(' ')} }`;
}

function call(root: Root, field: GraphQLField<unknown, unknown>, headers: Record<string, string>): Promise<Answer> {
  const text = `${root.toLowerCase()} { ${field.name}${argumentsOf(field.name)} ${selection(field.type, 3)} }`;
  return room.call(text, {}, headers);
}

describe('every operation', () => {
  it.each(operations)('%s.%s rejects unauthenticated callers', async (root, _name, field) => {
    const wrong = [
      {},
      { Authorization: 'Bearer nothing' },
      { Authorization: `Bearer ${secrets[0]}` },
      { Authorization: '' },
    ];
    for (const headers of [...wrong, { Authorization: `Bearer ${secrets[1]}` }, { Authorization: 'Basic b3duZXI6' }]) {
      const answer = await call(root, field, headers as Record<string, string>);
      expect([answer.status, answer.code, answer.data]).toEqual([401, 'unauthenticated', undefined]);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it.each(operations)("%s.%s returns nothing to another project's admin", async (root, name, field) => {
    const before = await snapshot();
    const answer = await call(root, field, foreignAdmin);
    for (const id of Object.values(ours)) expect(answer.body).not.toContain(id);
    if (roleFor(root, name) === 'admin') expect(answer.errors).toEqual([]);
    else expect(['not-found', 'forbidden']).toContain(answer.code);
    expect(await snapshot()).toEqual(before);
  });

  it.each(operations.filter(([root]) => root === 'Mutation'))(
    '%s.%s is forbidden for a viewer',
    async (root, _name, field) => {
      const before = await snapshot();
      expect((await call(root, field, viewer)).code).toBe('forbidden');
      expect(await snapshot()).toEqual(before);
    },
  );

  it.each(operations.filter(([root]) => root === 'Query'))(
    '%s.%s is readable by a viewer only if its rule allows it',
    async (root, name, field) => {
      const answer = await call(root, field, viewer);
      const allowed = ['admin', 'project_viewer'].includes(roleFor(root, name));
      expect([answer.code, answer.errors.length === 0]).toEqual(allowed ? [undefined, true] : ['forbidden', false]);
    },
  );

  it.each(operations.filter(([root]) => root === 'Query'))(
    '%s.%s returns no secret, even to the owner',
    async (root, _name, field) => {
      const answer = await call(root, field, (await room.tokenOf('owner')) as Record<string, string>);
      expect(answer.errors).toEqual([]);
      for (const secret of secrets) expect(answer.body).not.toContain(secret);
      expect(answer.body).not.toMatch(/hash|sealed|private/i);
      expect(answer.body).not.toMatch(/"d"\s*:/);
    },
  );
});

/** The rows that mutations could have changed. */
async function snapshot() {
  const em = room.services.db.reader();
  const tables = [
    'projects',
    'clients',
    'api_keys',
    'client_secrets',
    'recovery_grants',
    'delegation_keys',
    'scim_tokens',
    'memberships',
    'signing_keys',
    'users',
    'groups',
    'group_members',
    'apis',
    'api_grants',
    'custom_domains',
    'webhooks',
    'webhook_deliveries',
    'log_streams',
    'client_roles',
    'role_assignments',
    'claim_settings',
    'custom_schemas',
    'experience_drafts',
    'experience_versions',
    'logos',
  ];
  const counts = tables.map((table) => em.execute(`select count(*) as count from ${table}`));
  const revoked = em.execute(
    `select (select count(*) from api_keys where revoked_at is null) as keys,
            (select count(*) from client_secrets where revoked_at is null) as secrets,
            (select count(*) from scim_tokens where revoked_at is null) as scim,
            (select count(*) from delegation_keys where expires_at is null) as delegation,
            (select count(*) from admin_tokens where revoked_at is null and name = 'CI') as tokens,
            (select count(*) from sessions where ended_at is null) as sessions,
            (select count(*) from credentials where revoked_at is null) as devices,
            (select count(*) from users where active) as active,
            (select count(*) from logout_deliveries where state = 'failed') as undelivered,
            (select max(version) from projects) as version`,
  );
  return Promise.all([...counts, revoked]);
}

describe('every field', () => {
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__') && !isRoot(type))
    .flatMap((type) =>
      Object.values((type as GraphQLObjectType).getFields())
        .filter((field) => fieldRuleOf(type as GraphQLObjectType, field) !== 'inherited')
        .map((field) => [type.name, field.name, field] as const),
    );

  it.each(fields)('%s.%s is refused without a role in its project', (type, _name, field) => {
    const projectId = ours.project;
    const inProject = {
      id: projectId,
      project: { id: projectId },
      client: { getEntity: () => ({ project: { id: projectId } }) },
    };
    const caller = {
      kind: 'admin-token',
      name: 'foreign',
      grants: { owner: false, projects: new Map([['other', 'project_admin']]) },
    };
    const ask = () => field.resolve?.(inProject, {}, { caller } as never, {} as never);
    expect(ask, type).toThrow(Refusal);
  });

  const id = { type: GraphQLID };
  const build = (query: object, node: object) => {
    const Node = new GraphQLObjectType({ name: 'Node', fields: { id }, ...node });
    const Query = new GraphQLObjectType({ name: 'Query', fields: { node: { type: Node, ...query } } });
    return () => authorizeSchema(new GraphQLSchema({ query: Query }));
  };
  const operation = { extensions: { operation: { role: 'admin' } } };
  const access = { extensions: { access: { role: 'owner', projectOf: () => null } } };

  it('without a rule of its own or of its type fails at startup', () => {
    expect(build(operation, {})).toThrow('Node.id has no @Access rule');
    expect(build(operation, access)).not.toThrow();
    expect(build(operation, { fields: { id: { ...id, ...access }, name: id } })).toThrow('Node.name has no @Access');
    expect(build({}, access)).toThrow('Query.node has no @Requires rule');
    expect(build(access, access)).toThrow('Query.node has no @Requires rule');
    const query = new GraphQLObjectType({ name: 'Query', fields: { id }, ...access });
    expect(() => authorizeSchema(new GraphQLSchema({ query }))).toThrow('Query.id has no @Requires rule');
  });

  it('can have a stricter rule than its type', () => {
    const schema = build(operation, { fields: { id: { ...id, ...access } }, extensions: { access: 'inherited' } })();
    const { resolve } = (schema.getType('Node') as GraphQLObjectType).getFields()['id'] as GraphQLField<
      unknown,
      unknown
    >;
    const caller = { grants: { owner: false, projects: new Map([['p', 'project_admin']]) } };
    expect(() => resolve?.({ id: '1' }, {}, { caller } as never, {} as never)).toThrow(Refusal);
  });
});

describe('introspection', () => {
  it('returns the whole schema in one request to admins only', async () => {
    const known = await room.call(getIntrospectionQuery({ inputValueDeprecation: true, oneOf: false }), {}, viewer);
    expect(known.data.__schema.types.length).toBeGreaterThan(40);
    const stranger = await room.call(getIntrospectionQuery(), {}, {});
    expect([stranger.status, stranger.data]).toEqual([401, undefined]);
  });
});

it('reports no unexpected error', () => expect(room.bugs).toEqual([]));
