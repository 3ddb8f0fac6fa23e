import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { newAuthority } from '../../../test/certificates.ts';
import { configuredProject, receiverSecrets, samlMetadata, withSecrets } from '../../../test/configured-project.ts';
import { pngOf } from '../../../test/pictures.ts';
import { changed } from '../../../test/rows.ts';
import { rsaKey } from '../../../test/saml.ts';
import { Client } from '../../domain/clients/client.entity.ts';
import { clientFields } from '../../domain/clients/client.resource.ts';
import { documentKinds, type Kind, kinds } from '../../domain/configuration/document.ts';
import { Connection } from '../../domain/connections/connection.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Fields } from '../../domain/kernel/resource.ts';
import { Organization } from '../../domain/organizations/organization.entity.ts';
import { OrganizationRole } from '../../domain/organizations/organization-role.entity.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { projectFields } from '../../domain/projects/project.resource.ts';
import { ClientRole } from '../../domain/roles/client-role.entity.ts';
import { LogStream } from '../../domain/streams/log-stream.entity.ts';
import { Webhook } from '../../domain/webhooks/webhook.entity.ts';

let harness: AdminHarness;
let project: Project;
/** The settings before each test, with their secrets. */
let original: Record<string, unknown>;

beforeAll(async () => {
  harness = await openAdminHarness();
  project = await configuredProject(harness.services);
  original = withSecrets(await harness.services.configurations.document(project));
});
afterAll(() => harness.close());

/** Calls a mutation of the admin API with one input. */
async function send(mutation: string, input: object, shown = '{ __typename }'): Promise<void> {
  const type = `${mutation[0]?.toUpperCase()}${mutation.slice(1)}Input!`;
  const { errors } = await harness.call(`mutation ($input: ${type}) { ${mutation}(input: $input) ${shown} }`, {
    input,
  });
  expect(errors ?? []).toEqual([]);
}
const createDomain = async (host: string) => {
  const query = 'mutation ($host: String!, $id: ID!) { createCustomDomain(projectId: $id, host: $host) { id } }';
  expect((await harness.call(query, { host, id: project.id })).errors ?? []).toEqual([]);
};
const clientId = async () =>
  (await harness.services.db.reader().findOneOrFail(Client, { project: project.id, name: 'Portal' })).id;
const roleId = async () => (await harness.services.db.reader().findOneOrFail(ClientRole, { project: project.id })).id;
const apiOf = async () => (await harness.services.apis.list(harness.services.db.reader(), project.id))[0]?.id;
const webhookOf = async () => (await harness.services.db.reader().findOneOrFail(Webhook, { project: project.id })).id;
const streamOf = async () =>
  (await harness.services.db.reader().findOneOrFail(LogStream, { project: project.id, kind: 'http' })).id;
const logoOf = async (size: number) =>
  (await harness.services.experiences.addLogo(project.id, pngOf(size, size), system)).id;

const organizationOf = async () =>
  (await harness.services.db.reader().findOneOrFail(Organization, { project: project.id, slug: 'acme' })).id;
const connectionOf = async (name: string) => {
  const where = { project: project.id, organizationId: await organizationOf(), name };
  return (await harness.services.db.reader().findOneOrFail(Connection, where)).id;
};
const organizationRoleOf = async () =>
  (await harness.services.db.reader().findOneOrFail(OrganizationRole, { project: project.id, key: 'admin' })).id;
const removeConnection = async (name: string) =>
  harness.call(`mutation { deleteConnection(id: "${await connectionOf(name)}") }`);
/** Another connection of the same name. */
const replaceConnection = async (input: object) => {
  await removeConnection('Okta');
  await send('createConnection', { organizationId: await organizationOf(), name: 'Okta', ...input });
};
const provider = { kind: 'OIDC', oidc: { issuer: 'https://evil.example.com', clientId: 'x' } };

type Edit = () => Promise<unknown>;
/** Sends each of these inputs, named by the setting that it changes. */
const by = <T extends string>(inputs: Record<T, object>, change: (input: object) => Promise<unknown>) =>
  Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, () => change(input as object)])) as Record<
    T,
    Edit
  >;
const aaguid = '08987058-cadc-4b81-b6e1-30de50dcbe96';
const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
const certificate = Buffer.from(rsaKey().certificate).toString('base64');
const withKey = { tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT', jwks: { keys: [key] } };
const withWorkload = {
  tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT',
  ...{ workloadIssuer: 'https://ci.example.com', workloadSubject: 'repo:acme', workloadAudience: 'latchkey' },
};
const withKeys = { tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT', jwksUri: 'https://app.example.com/keys' };

/** Each flag with the opposite of its default. */
function flipped(fields: Fields): Record<string, object> {
  const flags = Object.entries(fields).filter(([, { kind, default: preset }]) => kind === 'flag' && preset !== null);
  return Object.fromEntries(flags.map(([name, { default: preset }]) => [name, { [name]: !preset }]));
}

/**
 * One change through the admin API for each setting of each kind; a change of the name adds a resource. The types
 * require an entry for each new setting.
 */
const edits: { [K in Kind]: Record<(typeof documentKinds)[K]['names'][number], Edit> } = {
  settings: by(
    {
      ...flipped(projectFields),
      name: { name: 'Other' },
      signUp: { signUp: 'PROVISIONED_ONLY' },
      mfaPolicy: { mfaPolicy: 'REQUIRED' },
      offeredFactors: { offeredFactors: ['TOTP'] },
      passkeyPolicy: { passkeyPolicy: 'REQUIRED' },
      passkeyAaguids: { passkeyAaguids: [aaguid] },
      passkeyRoots: { passkeyRoots: [newAuthority('Root').pem] },
      rememberMfaSeconds: { rememberMfaSeconds: 3600 },
      deviceTrustSeconds: { deviceTrustSeconds: 7200 },
      deviceTrustDays: { deviceTrustDays: 30 },
      smsCountries: { smsCountries: ['SE', 'DE'] },
      smsPerDay: { smsPerDay: 10 },
      sharedNetworks: { sharedNetworks: ['192.0.2.0/24'] },
      accountDeletionDays: { accountDeletionDays: 7 },
      signUpRequestDays: { signUpRequestDays: 7 },
      signUpDomains: { signUpDomains: ['example.com', '*.example.org'] },
      blockedSignUpDomains: { blockedSignUpDomains: ['example.net'] },
      clientMetadataDocuments: { clientMetadataDocuments: 'DOMAINS' },
      clientMetadataDomains: { clientMetadataDomains: ['claude.ai'] },
      blockedClientDomains: { blockedClientDomains: ['example.net'] },
      clientRegistration: { clientRegistration: 'TOKEN' },
      clientPolicies: { clientPolicies: [{ domain: 'example.com', scopes: ['openid'], accessTokenTtlSeconds: 60 }] },
      notifyOnDeactivation: { notifyOnDeactivation: true },
    },
    (input) => send('updateProject', { id: project.id, ...input }),
  ),
  sessionPolicy: by(
    {
      idleTimeoutSeconds: { idleTimeoutSeconds: 600 },
      maxSessionSeconds: { maxSessionSeconds: 7200 },
      idTokenTtlSeconds: { idTokenTtlSeconds: 90 },
      accessTokenTtlSeconds: { accessTokenTtlSeconds: 120 },
      refreshTokenTtlSeconds: { refreshTokenTtlSeconds: 20 * 24 * 3600 },
      refreshTokenIdleSeconds: { refreshTokenIdleSeconds: 24 * 3600 },
    },
    (input) => send('updateSessionPolicy', { projectId: project.id, ...input }),
  ),
  customAttributes: {
    name: () => send('createCustomAttribute', { projectId: project.id, name: 'badge', type: 'INTEGER' }),
    ...by(
      {
        description: { description: 'Other' },
        type: { type: 'INTEGER' },
        multiValued: { multiValued: true },
        required: { required: true },
        caseExact: { caseExact: true },
        mutability: { mutability: 'READ_ONLY' },
        returned: { returned: 'REQUEST' },
        uniqueness: { uniqueness: 'SERVER' },
        indexed: { indexed: true },
        visibleTo: { visibleTo: ['USER', 'APPLICATIONS'] },
        alias: { alias: 'urn:example:costCenter' },
        subAttributes: { type: 'COMPLEX', subAttributes: [{ name: 'code', type: 'STRING' }] },
      },
      (input) => send('updateCustomAttribute', { projectId: project.id, name: 'costCenter', ...input }),
    ),
  },
  apis: {
    identifier: () =>
      send('createApi', {
        ...{ projectId: project.id, identifier: 'https://b.example.com', name: 'B' },
        scopes: [{ key: 'all', description: 'All' }],
      }),
    ...by(
      {
        name: { name: 'Other' },
        scopes: {
          scopes: [
            { key: 'read', description: 'Other' },
            { key: 'write', description: 'write orders' },
          ],
        },
        accessTokenTtlSeconds: { accessTokenTtlSeconds: 60 },
        thirdPartyAccess: { thirdPartyAccess: true },
        tokenExchange: { tokenExchange: true },
        userKeys: { userKeys: true },
      },
      async (input) => send('updateApi', { id: await apiOf(), ...input }),
    ),
  },
  applications: {
    name: () => send('createClient', { projectId: project.id, name: 'Shadow' }, '{ __typename }'),
    ...by(
      {
        ...flipped(clientFields),
        access: { access: 'ASSIGNED' },
        kind: { kind: 'NATIVE' },
        tokenEndpointAuthMethod: withKey,
        jwks: withKey,
        jwksUri: withKeys,
        crossAppAccess: {
          crossAppAccess: [{ audience: 'https://vendor.example.com', clientId: 'there', scopes: ['read'] }],
        },
        workloadIssuer: withWorkload,
        workloadSubject: withWorkload,
        workloadAudience: withWorkload,
        idTokenSignedResponseAlg: { idTokenSignedResponseAlg: 'ES256' },
        redirectUris: { redirectUris: ['https://evil.example.com/'] },
        postLogoutRedirectUris: { postLogoutRedirectUris: ['https://evil.example.com/'] },
        startUri: { startUri: 'https://evil.example.com/' },
        backchannelLogoutUri: { backchannelLogoutUri: 'https://evil.example.com/' },
        logoutTokenType: { logoutTokenTyp: 'LOGOUT' },
        idTokenTtlSeconds: { idTokenTtlSeconds: 3600 },
        accessTokenTtlSeconds: { accessTokenTtlSeconds: 60 },
        refreshTokenTtlSeconds: { refreshTokenTtlSeconds: 24 * 3600 },
        refreshTokenIdleSeconds: { refreshTokenIdleSeconds: 3600 },
        grantTypes: { grantTypes: ['AUTHORIZATION_CODE', 'DEVICE_CODE'] },
        adminScopes: { ...withKey, grantTypes: ['CLIENT_CREDENTIALS'], adminScopes: ['users:read'] },
        pkceOptional: { ...withKey, pkceOptional: true },
        dpopNonceRequired: { dpopRequired: true, dpopNonceRequired: true },
        fapiProfile: { ...withKey, idTokenSignedResponseAlg: 'ES256', fapiProfile: true },
        samlMetadataUrl: { samlMetadataUrl: 'https://evil.example.com/metadata' },
        samlNameId: { samlNameId: 'EMAIL' },
        samlNameIdAttribute: { samlNameIdAttribute: 'preferred_username' },
        samlSigned: { samlSigned: 'RESPONSE' },
        samlCertificates: { samlCertificates: [certificate] },
        samlEncryptionCertificate: { samlEncryptionCertificate: certificate },
        samlLogoutUri: { samlLogoutUri: 'https://evil.example.com/logout' },
        samlLogoutResponseUri: { samlLogoutResponseUri: 'https://evil.example.com/return' },
        samlLogoutSoapUri: { samlLogoutSoapUri: 'https://evil.example.com/soap' },
      },
      async (input) => send('updateClient', { id: await clientId(), ...input }),
    ),
    samlEntityId: () =>
      send(
        'createClient',
        {
          projectId: project.id,
          name: 'Wiki',
          samlEntityId: 'urn:wiki',
          redirectUris: ['https://evil.example.com/acs'],
        },
        '{ __typename }',
      ),
  },
  roles: {
    key: async () => send('createRole', { clientId: await clientId(), key: 'owner', name: 'Owner' }),
    ...by({ name: { name: 'Other' }, description: { description: 'Other' } }, async (input) =>
      send('updateRole', { id: await roleId(), ...input }),
    ),
  },
  claims: by(
    {
      groups: { groups: 'ASSIGNED' },
      groupPrefix: { groups: 'PREFIX', groupPrefix: 'shop-' },
      listLimit: { listLimit: 10 },
      rolesClaim: { rolesClaim: 'permissions' },
      directoryRoles: { directoryRoles: true },
      mappings: { mappings: [] },
    },
    async (input) => send('updateClaimSettings', { clientId: await clientId(), ...input }),
  ),
  apiAccess: {
    identifier: async () => send('setApiGrant', { clientId: await clientId(), apiId: await apiOf(), scopes: [] }),
    ...by(
      { scopes: { scopes: ['read', 'write'] }, introspects: { scopes: ['read'], introspects: true } },
      async (input) => send('setApiGrant', { clientId: await clientId(), apiId: await apiOf(), ...input }),
    ),
  },
  accessRules: {
    holder: async () => {
      const values = { displayName: 'Staff', externalId: null };
      const { id: groupId } = await harness.services.groups.create(project.id, values, [], system);
      await send('grantAccess', { clientId: await clientId(), groupId });
    },
  },
  branding: {
    ...by(
      {
        displayName: { displayName: 'Other' },
        accent: { accent: '#654321' },
        texts: { texts: [{ locale: 'en', key: 'heading', text: 'Other' }] },
      },
      branded,
    ),
    logo: async () => branded({ logoId: await logoOf(50) }),
    darkLogo: async () => branded({ darkLogoId: await logoOf(60) }),
  },
  domains: { host: () => createDomain('other.example.com') },
  webhooks: {
    url: () => send('createWebhook', { projectId: project.id, url: 'https://evil.example.com/' }),
    ...by({ description: { description: 'Other' }, types: { types: [] }, enabled: { enabled: false } }, async (input) =>
      send('updateWebhook', { id: await webhookOf(), ...input }),
    ),
    secret: async () => harness.call(`mutation { rotateWebhookSecret(id: "${await webhookOf()}") { secret } }`),
  },
  logStreams: {
    target: () => send('createLogStream', { projectId: project.id, kind: 'HTTP', target: 'https://evil.example.com/' }),
    ...by(
      {
        description: { description: 'Other' },
        types: { types: [] },
        format: { format: 'JSON_ARRAY' },
        gzip: { gzip: false },
        header: { header: 'X-Token', secret: receiverSecrets.logStream },
        secret: { header: 'Authorization', secret: 'Bearer other' },
        paused: { paused: true },
      },
      async (input) => send('updateLogStream', { id: await streamOf(), ...input }),
    ),
  },
  organizationRoles: {
    key: () => send('createOrganizationRole', { projectId: project.id, key: 'billing', name: 'Billing' }),
    name: async () => send('updateOrganizationRole', { id: await organizationRoleOf(), name: 'Other' }),
  },
  organizations: by(
    {
      slug: { slug: 'renamed' },
      name: { name: 'Other' },
      state: { state: 'SUSPENDED' },
      signIn: { signIn: 'CONNECTION' },
      fallback: { fallback: true },
      mfaPolicy: { mfaPolicy: 'REQUIRED' },
      idleTimeoutSeconds: { idleTimeoutSeconds: 600 },
      maxSessionSeconds: { maxSessionSeconds: 3600 },
      joinByDomain: { joinByDomain: 'ASK' },
      metadata: { metadata: {} },
      defaultRoleKeys: { defaultRoleKeys: [] },
    },
    async (input) => send('updateOrganization', { id: await organizationOf(), ...input }),
  ),
  mailDomains: {
    domain: async () =>
      send('addOrganizationDomain', { organizationId: await organizationOf(), domain: 'evil.example.com' }),
  },
  connections: {
    name: async () => send('createConnection', { organizationId: await organizationOf(), name: 'Shadow', ...provider }),
    kind: () => replaceConnection({ kind: 'SAML', saml: {} }),
    preset: () => replaceConnection(provider),
    enabled: async () => send('setConnectionState', { id: await connectionOf('Okta'), state: 'DISABLED' }),
    ...by(
      {
        jit: { jit: false },
        refreshesProfile: { refreshesProfile: true },
        mappings: { mappings: { givenName: 'nickname' } },
        roleMappings: { roleMappings: { claim: 'groups', roles: { staff: 'admin' } } },
        issuer: { oidc: { issuer: 'https://evil.okta.com', clientSecret: 'other' } },
        clientId: { oidc: { clientId: 'other' } },
        scopes: { oidc: { scopes: ['openid'] } },
        secret: { oidc: { clientSecret: 'other' } },
      },
      async (input) => send('updateConnection', { id: await connectionOf('Okta'), ...input }),
    ),
    hostedDomain: async () =>
      send('updateConnection', { id: await connectionOf('Google'), oidc: { hostedDomain: 'evil.example.com' } }),
    // The tests fetch no metadata.
    metadataUrl: async () =>
      changed(
        harness.services.db,
        `update connections set settings = settings || '{"metadataUrl": "https://evil.example.com/metadata"}' where id = ?`,
        [await connectionOf('ADFS')],
      ),
    ...by(
      {
        entityId: { metadataXml: samlMetadata('urn:evil', 'adfs.acme.example.com') },
        ssoUrl: { metadataXml: samlMetadata('urn:acme', 'evil.example.com') },
        certificates: { certificates: [Buffer.from(rsaKey().certificate).toString('base64')] },
        signed: { signed: 'BOTH' },
        nameId: { nameId: 'EMAIL' },
        emailAttribute: { emailAttribute: 'mail' },
        vouchesForEmail: { vouchesForEmail: true },
        allowsSha1: { allowsSha1: true },
        allowsCbc: { allowsCbc: true },
      },
      async (saml) => send('updateConnection', { id: await connectionOf('ADFS'), saml }),
    ),
  },
};

async function branded(input: object): Promise<void> {
  await send('saveExperienceDraft', { projectId: project.id, ...input });
  await send('publishExperience', { projectId: project.id });
}

const differences = () => harness.services.configurations.plan(harness.services.configurations.read(original));
const restore = () =>
  harness.services.configurations.apply(harness.services.configurations.read(original), { prune: true, actor: system });
const everySetting = kinds.flatMap((kind) => documentKinds[kind].names.map((name) => ({ kind, name })));

describe.each(everySetting)('a change of $kind, $name, through the admin API', ({ kind, name }) => {
  it('shows as drift, which apply undoes', async () => {
    expect(await differences()).toEqual([]);
    const change = (edits[kind] as Record<string, Edit | undefined>)[name];
    if (!change) throw new Error(`no change of ${kind}, ${name}, is tried`);
    await change();
    const found = (await differences()).filter((one) => one.kind === kind);
    expect(found.some(({ action, after }) => action !== 'update' || name in after)).toBe(true);
    if (kind === 'domains') {
      // Only the console removes a domain: its passkeys end with it.
      await expect(restore()).rejects.toMatchObject({ problem: { field: 'domains.other.example.com.host' } });
      expect((await differences()).map((one) => one.kind)).toEqual(['domains']);
      const { data } = await harness.call(`{ customDomains(projectId: "${project.id}") { id host } }`);
      const { id } = data.customDomains.find(({ host }: { host: string }) => host === 'other.example.com');
      await harness.call(`mutation { deleteCustomDomain(id: "${id}") }`);
    }
    if (kind === 'connections' && ['kind', 'preset'].includes(name)) {
      // Its identities would end with it.
      await expect(restore()).rejects.toMatchObject({ problem: { field: `connections.acme.Okta.${name}` } });
      await removeConnection('Okta');
    }
    await restore();
    expect(await differences()).toEqual([]);
  });
});

/** Columns that hold no setting: identity, state, derived values and secrets. */
const rest = {
  settings: {
    entity: Project,
    others: ['id', 'slug', 'builtIn', 'passkeys', 'erasures', 'version', 'createdAt', 'updatedAt'],
  },
  applications: {
    entity: Client,
    // `jwks` has both forms of keys.
    others: [
      ...[
        'project',
        'id',
        'builtIn',
        'introducedBy',
        'metadataUrl',
        'samlSalt',
        ...['samlCertificateExpiresAt', 'samlMetadataCheckedAt', 'samlMetadataFault', 'samlWarnedDays'],
        'jwk',
        'jwkSet',
        'logoId',
        'disabledAt',
        'version',
        'createdAt',
      ],
      'updatedAt',
    ],
  },
  organizationRoles: { entity: OrganizationRole, others: ['project', 'id', 'createdAt'] },
  organizations: { entity: Organization, others: ['project', 'id', 'createdAt', 'updatedAt'] },
  connections: {
    entity: Connection,
    others: [
      ...['project', 'id', 'organizationId', 'state', 'settings', 'sealedSecret', 'version', 'createdAt', 'updatedAt'],
      ...['lastSuccessAt', 'lastFailureAt', 'failures', 'metadataCheckedAt', 'metadataFault', 'certificateExpiresAt'],
      // Not in the files yet.
      ...['warnedDays', 'acceptsAssertions'],
    ],
  },
  roles: { entity: ClientRole, others: ['project', 'id', 'client', 'createdAt', 'updatedAt'] },
  webhooks: {
    entity: Webhook,
    others: [
      ...['project', 'id', 'disabledReason', 'sealedSecret', 'secretCreatedAt', 'sealedPreviousSecret'],
      ...[
        'previousSecretUntil',
        'failures',
        'failingSince',
        'lastDeliveredAt',
        'nextAttemptAt',
        'lease',
        'leasedUntil',
      ],
      ...['createdAt', 'updatedAt'],
    ],
  },
  logStreams: {
    entity: LogStream,
    // The kind follows from the target.
    others: [
      ...['id', 'project', 'kind', 'sealedSecret', 'position', 'failures', 'failingSince', 'lastError'],
      ...['lastDeliveredAt', 'nextAttemptAt', 'lease', 'leasedUntil', 'createdAt', 'updatedAt'],
    ],
  },
};

it.each(Object.entries(rest))(
  'every column of %s is a setting in the files, or listed as no setting',
  (kind, { entity, others }) => {
    const columns = Object.keys(
      harness.services.db
        .reader()
        .getMetadata()
        .get(entity as typeof Project).properties,
    );
    const configured: readonly string[] =
      kind === 'settings'
        ? [...documentKinds.settings.names, ...documentKinds.sessionPolicy.names]
        : documentKinds[kind as Kind].names;
    expect(columns.filter((name) => !configured.includes(name)).sort()).toEqual([...others].sort());
  },
);
