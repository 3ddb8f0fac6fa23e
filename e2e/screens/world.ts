import { AdminApi } from '../support/admin-api.ts';
import { openDatabase } from '../support/database.ts';
import type { Latchkey } from '../support/latchkey.ts';

/** Sample data: a company with users, applications, a directory and four weeks of activity. */
export interface World {
  admin: AdminApi;
  projectId: string;
  emptyProjectId: string;
  clientId: string;
  /** Without access rules: everyone may use the first, no one the second. */
  bareClientId: string;
  closedClientId: string;
  userId: string;
  /** A user without sessions, devices and passkeys. */
  bareUserId: string;
  groupId: string;
  organizationId: string;
  /** Suspended, without members. */
  bareOrganizationId: string;
  connectionId: string;
  /** Without the values of its provider. */
  draftConnectionId: string;
  samlConnectionId: string;
  samlClientId: string;
  webhookId: string;
  streamId: string;
  issuer: string;
}

const given = ['Ada', 'Grace', 'Alan', 'Katherine', 'Edsger', 'Barbara', 'Donald', 'Margaret', 'Dennis', 'Radia'];
const family = ['Lindqvist', 'Okafor', 'Tanaka', 'Moreau', 'Silva', 'Novak', 'Haddad', 'Keller', 'Rossi', 'Byrne'];
const people = Array.from({ length: 64 }, (_, n) => ({
  givenName: given[n % given.length] as string,
  familyName: family[(n * 7 + Math.floor(n / 10)) % family.length] as string,
}));
const days = 28;

/** Fills a new server through its APIs, and past activity through the database. */
export async function buildWorld(latchkey: Latchkey): Promise<World> {
  const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  const projectId = await admin.createProject('Northwind');
  const emptyProjectId = await admin.createProject('Fresh start');
  for (const name of ['Contoso Health', 'Fabrikam Retail', 'Tailspin Toys', 'Wide World Importers']) {
    await admin.createProject(name);
  }
  const web = { projectId, redirectUris: ['https://portal.northwind.example/callback'] };
  const portal = await admin.createClient({
    ...web,
    name: 'Customer portal',
    postLogoutRedirectUris: ['https://portal.northwind.example/'],
    backchannelLogoutUri: 'https://portal.northwind.example/backchannel-logout',
  });
  await admin.createClient({
    ...web,
    name: 'Field app',
    grantTypes: ['REFRESH_TOKEN'],
    redirectUris: ['http://127.0.0.1/callback'],
    backchannelLogoutUri: 'https://field.northwind.example/logout',
  });
  const { clientId: bareClientId } = await admin.createClient({ ...web, name: 'Back office' });
  const { clientId: closedClientId } = await admin.createClient({ ...web, name: 'Payroll', access: 'ASSIGNED' });
  const token = await admin.issueScimToken(projectId);
  const scim = directory(latchkey.baseUrl, projectId, token);
  const ids = await provision(scim);
  const groupId = await groups(scim, ids);
  await mistakes(scim);
  for (const email of ['maya.chen@northwind.example', 'sam.ortiz@northwind.example']) {
    await admin.run('mutation ($input: GrantRoleInput!) { grantRole(input: $input) { id } }', {
      input: { email, role: 'PROJECT_ADMIN', projectId },
    });
  }
  await past(latchkey, projectId, portal.clientId);
  await signUpRequests(latchkey, projectId, portal.clientId);
  const [userId, bareUserId] = [ids[0] as string, ids[40] as string];
  const users = { userId, bareUserId };
  await rolesAndClaims(admin, portal.clientId, userId, groupId);
  await access(admin, portal.clientId, userId, groupId);
  await apis(admin, projectId, portal.clientId);
  const [organizationId, bareOrganizationId] = await organizations(admin, projectId, ids);
  await invitations(latchkey, admin, organizationId);
  await portalLinks(latchkey, admin, organizationId);
  await ofOrganization(latchkey, admin, projectId, organizationId);
  await hasOrganizations(admin, emptyProjectId);
  const [connectionId, draftConnectionId] = await connections(latchkey, admin, projectId);
  const [samlConnectionId, samlClientId] = await saml(admin, projectId, emptyProjectId);
  const webhookId = await webhooks(latchkey, admin, projectId);
  const streamId = await logStreams(latchkey, admin, projectId);
  const clientId = portal.clientId;
  return {
    admin,
    projectId,
    emptyProjectId,
    clientId,
    ...{ bareClientId, closedClientId },
    ...users,
    groupId,
    ...{ organizationId, bareOrganizationId },
    ...{ connectionId, draftConnectionId, samlConnectionId, samlClientId },
    webhookId,
    streamId,
    issuer: latchkey.baseUrl,
  };
}

type Scim = (method: string, path: string, body?: object) => Promise<{ id: string }>;

function directory(baseUrl: string, projectId: string, token: string): Scim {
  return async (method, path, body) => {
    const response = await fetch(`${baseUrl}/v1/scim/${projectId}/${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/scim+json',
        'User-Agent': 'Okta SCIM Client 1.0.0',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return (await response.json()) as { id: string };
  };
}

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';

async function provision(scim: Scim): Promise<string[]> {
  const ids: string[] = [];
  for (const [n, { givenName, familyName }] of people.entries()) {
    const userName = `${givenName}.${familyName}${n > 40 ? n : ''}@northwind.example`.toLowerCase();
    const { id } = await scim('POST', 'Users', {
      schemas: [userSchema],
      userName,
      externalId: `00u${1000 + n}`,
      displayName: `${givenName} ${familyName}`,
      name: { givenName, familyName },
      emails: [{ value: userName, type: 'work', primary: true }],
      active: n % 17 !== 5,
    });
    if (id) ids.push(id);
  }
  return ids;
}

async function groups(scim: Scim, ids: readonly string[]): Promise<string> {
  let first = '';
  for (const [n, displayName] of ['Engineering', 'Support', 'Finance', 'Field staff'].entries()) {
    const members = ids.filter((_, index) => index % 4 === n).map((value) => ({ value }));
    const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
    const { id } = await scim('POST', 'Groups', { schemas, displayName, members });
    first ||= id;
  }
  return first;
}

/** Roles of an application, held by a user and a group, and mapped claims. */
async function rolesAndClaims(admin: AdminApi, clientId: string, userId: string, groupId: string): Promise<void> {
  const create = 'mutation ($input: CreateRoleInput!) { createRole(input: $input) { id } }';
  const assign = 'mutation ($input: AssignRoleInput!) { assignRole(input: $input) { id } }';
  for (const [key, name, description, holder] of [
    ['admin', 'Administrator', 'Manages orders, prices and staff', { userId }],
    ['order-editor', 'Order editor', 'Changes orders that are not shipped', { groupId }],
    ['viewer', 'Viewer', null, { userId }],
  ] as const) {
    const input = { clientId, key, name, description };
    const { createRole } = await admin.run<{ createRole: { id: string } }>(create, { input });
    await admin.run(assign, { input: { roleId: createRole.id, ...holder } });
  }
  const mappings = [
    { claim: 'department', attribute: 'enterprise.department' },
    { claim: 'login', template: '${userName}', scope: 'profile' },
    { claim: 'policy', list: { of: 'GROUPS', prefix: 'portal-', removePrefix: true } },
  ];
  await admin.run('mutation ($input: UpdateClaimSettingsInput!) { updateClaimSettings(input: $input) { version } }', {
    input: { clientId, groups: 'ASSIGNED', mappings },
  });
}

/** Access to an application by a group, a role and a user. */
async function access(admin: AdminApi, clientId: string, userId: string, groupId: string): Promise<void> {
  const grant = 'mutation ($input: GrantAccessInput!) { grantAccess(input: $input) { id } }';
  for (const holder of [{ groupId }, { roleKey: 'admin' }, { userId }]) {
    await admin.run(grant, { input: { clientId, ...holder } });
  }
  await admin.run('mutation ($input: UpdateClientInput!) { updateClient(input: $input) { id } }', {
    input: { id: clientId, access: 'ASSIGNED' },
  });
}

async function hasOrganizations(admin: AdminApi, id: string): Promise<void> {
  await admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
    input: { id, organizationsEnabled: true },
  });
}

/** Customers of the project: one with members, roles and rules, and one that is suspended. Returns their ids. */
async function organizations(admin: AdminApi, projectId: string, users: readonly string[]): Promise<[string, string]> {
  await hasOrganizations(admin, projectId);
  const role = 'mutation ($input: CreateOrganizationRoleInput!) { createOrganizationRole(input: $input) { id } }';
  for (const name of ['Admin', 'Billing', 'Member']) {
    await admin.run(role, { input: { projectId, name, key: name.toLowerCase() } });
  }
  const creation = 'mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { id } }';
  const create = async (name: string, slug: string, more: object = {}) => {
    const input = { projectId, name, slug, ...more };
    return (await admin.run<{ createOrganization: { id: string } }>(creation, { input })).createOrganization.id;
  };
  for (const name of ['Litware', 'Proseware', 'Adatum']) await create(name, name.toLowerCase());
  const suspended = await create('Graphic Design Institute of the Northern Provinces', 'graphic-design-institute');
  await admin.run('mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { id } }', {
    input: { id: suspended, state: 'SUSPENDED' },
  });
  const rules = { mfaPolicy: 'REQUIRED', idleTimeoutSeconds: 900, metadata: { plan: 'enterprise', seats: 250 } };
  const id = await create('Alpine Ski House', 'alpine-ski-house', { ...rules, defaultRoleKeys: ['member'] });
  const addition = 'mutation ($input: AddOrganizationMemberInput!) { addOrganizationMember(input: $input) { id } }';
  for (const [n, userId] of users.slice(0, 9).entries()) {
    const roleKeys = n === 0 ? ['admin', 'billing', 'member'] : undefined;
    const { addOrganizationMember } = await admin.run<{ addOrganizationMember: { id: string } }>(addition, {
      input: { organizationId: id, userId, ...(roleKeys && { roleKeys }) },
    });
    if (n !== 4) continue;
    await admin.run(
      'mutation ($input: UpdateOrganizationMemberInput!) { updateOrganizationMember(input: $input) { id } }',
      { input: { id: addOrganizationMember.id, state: 'SUSPENDED' } },
    );
  }
  return [id, suspended];
}

/** APIs of the project, one of which the application may use. */
async function apis(admin: AdminApi, projectId: string, clientId: string): Promise<void> {
  const create = 'mutation ($input: CreateApiInput!) { createApi(input: $input) { id } }';
  const scopesOf = (noun: string) =>
    ['read', 'write'].map((verb) => ({
      key: `${noun}:${verb}`,
      description: `${verb === 'read' ? 'Read' : 'Change'} ${noun}`,
    }));
  for (const noun of ['invoices', 'orders']) {
    const identifier = `https://${noun}.northwind.example`;
    const input = { projectId, name: noun === 'orders' ? 'Orders' : 'Invoicing', identifier, scopes: scopesOf(noun) };
    const { createApi } = await admin.run<{ createApi: { id: string } }>(create, { input });
    if (noun === 'invoices') continue;
    await admin.run('mutation ($input: SetApiGrantInput!) { setApiGrant(input: $input) { scopes } }', {
      input: { clientId, apiId: createApi.id, scopes: ['orders:read'], introspects: true },
    });
  }
}

/** Typical SCIM errors, for the inspector. */
async function mistakes(scim: Scim): Promise<void> {
  await scim('GET', 'Users?filter=userName+eq+%22ada.lindqvist%40northwind.example%22&startIndex=1&count=100');
  await scim('POST', 'Users', { schemas: [userSchema], userName: 'ada.lindqvist@northwind.example' });
  await scim('GET', 'Users?filter=userName+is+%22x%22');
  await scim('POST', 'Users', { schemas: [userSchema], userName: '  ' });
  await scim('GET', 'ServiceProviderConfig');
}

/** Four weeks of sign-ins with weekends, an incident, directories and logouts, inserted by SQL. */
async function past(latchkey: Latchkey, projectId: string, clientId: string): Promise<void> {
  const client = await openDatabase(latchkey);
  const events = `
    insert into audit_log (id, project_id, at, type, result, actor_kind, actor_id, actor_name, subject_kind, subject_id,
      subject_name, client_id, detail, ip, user_agent)
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(kind || n), 1, 3) || '8'
        || substr(md5(n || kind), 1, 15))::uuid,
      $1, at, kind, case when kind like '%rejected' then 'failure' else 'success' end, 'user', u.id, u.display_name, 'user', u.id,
      u.display_name, $2,
      case kind when 'user.signed_in' then case when n % 4 = 0 then '{"amr":["swk","otp"]}'::jsonb
          when n % 3 = 0 then '{"amr":["swk","user","pop","mfa"],"passkeyId":"x"}' else '{"amr":["swk"]}' end
        when 'otp.verified' then jsonb_build_object('afterSeconds', 12 + n % 31)
        when 'otp.rejected' then '{"fault":"wrong"}'::jsonb end,
      '203.0.113.' || (1 + n % 200), 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/126.0 Safari/537.36'
    from (
      select n, kind, now() - d * interval '1 day' - (n % 37) * interval '17 minutes' - interval '3 minutes' as at, d
      from generate_series(0, ${days - 1}) as d,
        lateral (select case extract(isodow from now() - d * interval '1 day') when 6 then 14 when 7 then 11 else 62 - d end as size) s,
        lateral (values ('user.signed_in', s.size * 4), ('otp.sent', s.size + d % 5), ('otp.verified', s.size),
          ('otp.rejected', 2 + d % 4 + case when d = 6 then 38 else 0 end), ('device.registered', s.size / 3)) as k(kind, count),
        lateral generate_series(1, k.count) as n
    ) e
    join lateral (select id, display_name, row_number() over (order by id) as place from users where project_id = $1) u
      on u.place = 1 + (e.n * 13 + e.d * 7) % 60
    where at <= now()
    on conflict do nothing`;
  await client.query(events, [projectId, clientId]);
  await client.query(
    `insert into scim_days (project_id, day, requests, refused, failed)
     select $1, (now() at time zone 'UTC')::date - d, 180 + (d * 37) % 90, (d * 5) % 7, case when d = 9 then 4 else 0 end
     from generate_series(1, ${days - 1}) as d on conflict do nothing`,
    [projectId],
  );
  await client.query(
    `insert into logout_deliveries (id, project_id, client_id, subject, sid, jti, uri, state, attempts, next_attempt_at, created_at, delivered_at)
     select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008' || substr(md5(c.id::text || n), 1, 15))::uuid,
       $1, c.id, u.id, case when n % 3 = 0 then u.id end, md5(c.id::text || n), c.backchannel_logout_uri, state,
       case state when 'delivered' then jsonb_build_array(jsonb_build_object('at', at, 'status', 200, 'durationMs', 38 + n % 60))
         when 'failed' then jsonb_build_array(jsonb_build_object('at', at, 'status', 400, 'durationMs', 71))
         else jsonb_build_array(jsonb_build_object('at', at, 'status', 503, 'durationMs', 2150),
           jsonb_build_object('at', at + interval '12 seconds', 'error', 'no answer in time', 'durationMs', 5000)) end,
       case when state = 'pending' then now() + interval '9 minutes' end, at,
       case when state = 'delivered' then at + interval '1 second' end
     from generate_series(1, 90) as n, clients c,
       lateral (select now() - n * interval '3 hours 11 minutes' as at,
         case when c.name = 'Field app' and n < 3 then 'pending' when c.name = 'Field app' and n in (7, 22) then 'failed' else 'delivered' end
           as state) s,
       lateral (select id from users where project_id = $1 order by id offset n % 60 limit 1) u
     where c.project_id = $1 and c.backchannel_logout_uri is not null`,
    [projectId],
  );
  await client.query(
    `insert into credentials (id, project_id, client_id, user_id, jkt, public_jwk, alg, name, trusted_until, created_at, last_used_at, remembered)
     select gen_random_uuid(), $1, $2, u.id, md5(u.id::text || n), '{}', 'ES256', (array['Chrome on macOS', 'Safari on iPhone'])[n],
       now() + interval '25 days', now() - interval '9 days', now() - n * interval '5 hours', true
     from (select id from users where project_id = $1 order by id limit 20) u, generate_series(1, 2) as n`,
    [projectId, clientId],
  );
  await client.query(
    `insert into credentials (id, kind, project_id, user_id, credential_id, public_key, cose_alg, aaguid, transports, sign_count,
       backup_eligible, backed_up, user_verified, name, created_by, created_at, last_used_at)
     select gen_random_uuid(), 'passkey', $1, u.id, md5(u.id::text || n), 'x', -7, u.id::text, '{internal}', 0,
       n = 1, n = 1, n = 1, (array['iCloud Keychain', 'Passkey (Chrome on Windows)'])[n], 'mail-code',
       now() - n * interval '6 days', now() - n * interval '26 hours'
     from (select id from users where project_id = $1 order by id limit 12) u, generate_series(1, 2) as n`,
    [projectId],
  );
  await client.query(
    `insert into sessions (id, project_id, user_id, secret_hash, auth_time, amr, created_at, last_seen_at, idle_expires_at, expires_at, ip, user_agent)
     select gen_random_uuid(), $1, u.id, md5(u.id::text), now() - interval '2 hours', '{swk}', now() - interval '2 hours',
       now() - interval '4 minutes', now() + interval '26 minutes', now() + interval '6 hours', '203.0.113.20',
       'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/126.0 Safari/537.36'
     from (select id from users where project_id = $1 order by id limit 23) u`,
    [projectId],
  );
  await client.query(
    `update users set last_sign_in_at = now() - (extract(minute from created_at)::int % 50 + 3) * interval '47 minutes'
     where project_id = $1 and active`,
    [projectId],
  );
  await client.query(
    `insert into consents (project_id, id, client_id, user_id, scopes, created_at, updated_at)
     select $1, gen_random_uuid(), c.id, u.id, case when c.name = 'Field app' then '{openid,profile,email}'::text[] else
       '{openid,profile,email,phone,address,groups,offline_access}' end, now() - interval '40 days', now() - interval '3 days'
     from clients c, (select id from users where project_id = $1 order by id limit 6) u
     where c.project_id = $1 and c.name in ('Field app', 'Back office')`,
    [projectId],
  );
  await client.query(
    `insert into refresh_grants (project_id, id, family_hash, client_id, user_id, offline, issuer, scope, auth_time, amr, current_hash,
       created_at, last_used_at)
     select $1, gen_random_uuid(), md5(u.id::text || c.id), c.id, u.id, true, 'x', 'openid profile email offline_access',
       now() - interval '20 days', '{swk}', md5(c.id::text || u.id), now() - interval '20 days', now() - interval '5 hours'
     from clients c, (select id from users where project_id = $1 order by id limit 9) u
     where c.project_id = $1 and c.name = 'Field app'`,
    [projectId],
  );
  await client.query(
    `insert into custom_domains (project_id, id, host, challenge, state, created_at, checked_at, fault, verified_at, missing_since)
     values ($1, gen_random_uuid(), 'login.northwind.example', 'latchkey=' || md5('a') || md5('b'), 'verified',
         now() - interval '60 days', now() - interval '2 hours', null, now() - interval '60 days', null),
       ($1, gen_random_uuid(), 'id.northwind-europe.example', 'latchkey=' || md5('c') || md5('d'), 'verified',
         now() - interval '50 days', now() - interval '1 hour', 'missing', now() - interval '50 days', now() - interval '7 hours'),
       ($1, gen_random_uuid(), 'signin.northwind.example', 'latchkey=' || md5('e') || md5('f'), 'pending',
         now() - interval '1 day', now() - interval '3 hours', 'missing', null, null)`,
    [projectId],
  );
  await client.query(
    `insert into backups (id, file, taken_at, finished_at, bytes, rows, checksum)
     values (gen_random_uuid(), 'latchkey.backup', now() - interval '6 hours', now() - interval '6 hours', 48211033, 91244, 'x')`,
  );
  await client.end();
}

/** People who wait for an admin, in a project that approves each of them. */
async function signUpRequests(latchkey: Latchkey, projectId: string, clientId: string): Promise<void> {
  const client = await openDatabase(latchkey);
  await client.query(`update projects set sign_up = 'approval' where id = $1`, [projectId]);
  await client.query(
    `insert into sign_up_requests (project_id, id, address, address_key, state, client_id, locale, created_at, expires_at)
     select $1, gen_random_uuid(), address, address, case when n = 3 then 'declined' else 'pending' end, $2, 'en',
       now() - n * interval '7 hours', now() - n * interval '7 hours' + interval '30 days'
     from unnest(array['noor.haddad@northwind.example', 'tomas.lindqvist@northwind.example', 'press@throwaway.example',
       'a-very-long-name-of-a-new-colleague@subsidiary.northwind.example']) with ordinality as t (address, n)`,
    [projectId, clientId],
  );
  await client.end();
}

/** Domains and connections of an organization, people who ask to join, and a user at home in it. */
async function ofOrganization(
  latchkey: Latchkey,
  admin: AdminApi,
  projectId: string,
  organizationId: string,
): Promise<void> {
  const run = (name: string, type: string, input: object, fields: string) =>
    admin.run<Record<string, { id?: string }>>(`mutation ($input: ${type}!) { ${name}(input: $input) { ${fields} } }`, {
      input,
    });
  for (const domain of ['alpine-ski-house.example', 'alpine-ski.example', 'ski-house.example']) {
    await run('addOrganizationDomain', 'AddOrganizationDomainInput', { organizationId, domain }, 'domain { id }');
  }
  const oidc = { issuer: 'https://alpine.okta.com', clientId: '0oa1x', clientSecret: 'not a real one' };
  const connection = { organizationId, kind: 'OIDC', preset: 'okta', name: 'Alpine Okta', jit: true, oidc };
  await run('createConnection', 'CreateConnectionInput', connection, 'connection { id }');
  const user = {
    projectId,
    userName: 'lena.huber@alpine-ski-house.example',
    displayName: 'Lena Huber',
    organizationId,
  };
  await run('createUser', 'CreateUserInput', { ...user, invite: false }, 'id');
  const client = await openDatabase(latchkey);
  await client.query(
    `update organization_domains set state = 'verified', proved_by = 'dns', verified_at = now() - interval '20 days',
       checked_at = now() - interval '2 hours', fault = case when domain = 'alpine-ski.example' then 'missing' end,
       failing_since = case when domain = 'alpine-ski.example' then now() - interval '14 hours' end
     where organization_id = $1 and domain <> 'ski-house.example'`,
    [organizationId],
  );
  await client.query(
    `update organization_memberships set state = 'requested', source = 'domain' where organization_id = $1
       and user_id = (select min(user_id::text)::uuid from organization_memberships where organization_id = $1 and state = 'active')`,
    [organizationId],
  );
  await client.end();
}

/** Portal links of an organization: not opened, in progress, completed, expired and revoked. */
async function portalLinks(latchkey: Latchkey, admin: AdminApi, organizationId: string): Promise<void> {
  const link = 'mutation ($input: CreatePortalLinkInput!) { createPortalLink(input: $input) { url } }';
  const can = ['DOMAINS', 'CONNECTION', 'DIRECTORY'];
  for (const [index, name] of ['ivy', 'ben', 'noa', 'kim', 'lou'].entries()) {
    const email = `${name}@alpine-ski-house.example`;
    await admin.run(link, { input: { organizationId, email, can: index % 2 === 0 ? can : can.slice(0, 2) } });
  }
  const client = await openDatabase(latchkey);
  await client.query(
    `update portal_links set
       used_at = case when email ~ '^(ben|noa|kim)' then now() - interval '1 day' end,
       completed_at = case when email ~ '^noa' then now() - interval '3 hours' end,
       expires_at = case when email ~ '^kim' then now() - interval '1 hour' else expires_at end,
       revoked_at = case when email ~ '^lou' then now() - interval '2 hours' end
     where organization_id = $1`,
    [organizationId],
  );
  await client.end();
}

/** Invitations to an organization: open, expired, revoked and accepted. */
async function invitations(latchkey: Latchkey, admin: AdminApi, organizationId: string): Promise<void> {
  const query = 'mutation ($input: InviteOrganizationMemberInput!) { inviteOrganizationMember(input: $input) { id } }';
  const names = ['ines.duarte', 'tomasz.wisniewski', 'amara.nwosu', 'yuki.sato'];
  for (const name of names) {
    const input = { organizationId, email: `${name}@alpine-ski-house.example` };
    await admin.run(query, { input: name === 'ines.duarte' ? { ...input, roleKeys: ['admin', 'billing'] } : input });
  }
  const client = await openDatabase(latchkey);
  await client.query(
    `update organization_invitations set
       expires_at = case when email like 'tomasz%' then now() - interval '1 day' else expires_at end,
       sent_at = case when email like 'ines%' then sent_at else now() - interval '9 days' end,
       accepted_at = case when email like 'yuki%' then now() - interval '8 days' end,
       revoked_at = case when email like 'amara%' then now() - interval '5 days' end
     where organization_id = $1`,
    [organizationId],
  );
  await client.end();
}

/** Connections, of which one fails and one is a draft; these two. */
async function connections(latchkey: Latchkey, admin: AdminApi, projectId: string): Promise<[string, string]> {
  const query = 'mutation ($input: CreateConnectionInput!) { createConnection(input: $input) { connection { id } } }';
  const create = async (preset: string, name: string, more: object = {}) => {
    const input = { projectId, kind: 'OIDC', preset, name, ...more };
    type Created = { createConnection: { connection: { id: string } } };
    return (await admin.run<Created>(query, { input })).createConnection.connection.id;
  };
  const oidc = { clientId: '0oa8f2k1x9QpLr7Ts5d7', clientSecret: 'not a real one' };
  const okta = await create('okta', 'Northwind Okta', {
    jit: true,
    oidc: { ...oidc, issuer: 'https://northwind.okta.com' },
  });
  const google = await create('google', 'Google', { oidc: { ...oidc, hostedDomain: 'northwind.example' } });
  await create('keycloak', 'Partners', { oidc: { ...oidc, issuer: 'https://sso.partner.example/realms/all' } });
  const draft = await create('entra', 'Contoso');
  const client = await openDatabase(latchkey);
  await client.query(
    `update connections set state = case when id in ($1, $2) then 'enabled' else state end,
       last_success_at = case when id = $1 then now() - interval '3 hours' when id = $2 then now() - interval '4 minutes' end,
       last_failure_at = case when id = $1 then now() - interval '9 minutes' end,
       failures = case when id = $1 then '{"token-endpoint": 14, "denied": 2, "time": 1}'::jsonb else failures end
     where project_id = $3`,
    [okta, google, projectId],
  );
  await client.end();
  return [okta, draft];
}

/** A connection to a SAML provider, which is another project, and a SAML application. */
async function saml(admin: AdminApi, projectId: string, providerProjectId: string): Promise<[string, string]> {
  const metadataXml = await (await fetch(`${await admin.issuerOf(providerProjectId)}/saml/metadata`)).text();
  const creation =
    'mutation ($input: CreateConnectionInput!) { createConnection(input: $input) { connection { id } } }';
  const input = { projectId, kind: 'SAML', preset: 'entra', name: 'Fabrikam', saml: { metadataXml } };
  type Created = { createConnection: { connection: { id: string } } };
  const { createConnection } = await admin.run<Created>(creation, { input });
  const { clientId } = await admin.createClient({
    ...{
      projectId,
      name: 'Wiki',
      samlEntityId: 'https://wiki.northwind.example/saml/metadata',
      samlIdpInitiated: true,
    },
    redirectUris: ['https://wiki.northwind.example/saml/acs'],
  });
  // The first one, and its successor.
  for (let keys = 0; keys < 2; keys++) {
    await admin.run('mutation ($projectId: ID!) { rotateSamlKey(projectId: $projectId) { entityId } }', { projectId });
  }
  return [createConnection.connection.id, clientId];
}

/** Three webhooks: one that works, one that fails, one that is disabled. Returns the second. */
async function webhooks(latchkey: Latchkey, admin: AdminApi, projectId: string): Promise<string> {
  const create = async (url: string, description: string, types: string[]) => {
    const query = 'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }';
    const input = { projectId, url, description, types };
    return (await admin.run<{ createWebhook: { webhook: { id: string } } }>(query, { input })).createWebhook.webhook.id;
  };
  await create('https://crm.northwind.example/hooks/latchkey', 'Customer records', ['user.*', 'group.*']);
  const orders = await create('https://orders.northwind.example/in?token=8c1f', 'Order service', []);
  const old = await create('https://legacy.northwind.example/events', '', ['user.created', 'user.erased']);
  const client = await openDatabase(latchkey);
  await client.query(
    `update webhooks set next_attempt_at = now() + interval '1 day', last_delivered_at = now() - interval '4 minutes',
       failures = case when id = $1 then 7 else 0 end, failing_since = case when id = $1 then now() - interval '3 hours' end,
       disabled_reason = case when id = $2 then 'failures' end, created_at = now() - interval '40 days'`,
    [orders, old],
  );
  await client.query(
    `insert into webhook_deliveries (project_id, id, webhook_id, event_id, type, order_key, state, tries, attempts, next_attempt_at,
       created_at, settled_at)
     select e.project_id, (left(e.id::text, 24) || right(w.id::text, 12))::uuid, w.id, e.id, e.type, e.subject_id, state,
       case state when 'delivered' then 1 else 3 end,
       case state when 'delivered' then jsonb_build_array(jsonb_build_object('at', e.at, 'status', 204, 'durationMs', 41))
         else jsonb_build_array(jsonb_build_object('at', e.at, 'status', 503, 'durationMs', 1210),
           jsonb_build_object('at', e.at + interval '12 seconds', 'error', 'no answer in time', 'durationMs', 10000)) end,
       case when state = 'pending' then now() + interval '40 minutes' end, e.at, case when state <> 'pending' then e.at end
     from (select *, row_number() over (order by id desc) as n from audit_log where project_id = $1 and type = 'user.signed_in'
         order by id desc limit 60) e, webhooks w,
       lateral (select case when w.id = $2 and n < 5 then 'pending' when w.id = $2 and n in (7, 8, 19) then 'failed'
         else 'delivered' end as state) s
     where w.project_id = $1`,
    [projectId, orders],
  );
  await client.end();
  return orders;
}

/** Three log streams: one that works, one that fails, one that is paused. Returns the second. */
async function logStreams(latchkey: Latchkey, admin: AdminApi, projectId: string): Promise<string> {
  const create = async (input: object) => {
    const query = 'mutation ($input: CreateLogStreamInput!) { createLogStream(input: $input) { id } }';
    const variables = { input: { projectId, ...input } };
    return (await admin.run<{ createLogStream: { id: string } }>(query, variables)).createLogStream.id;
  };
  await create({ kind: 'SYSLOG', target: 'tls://siem.northwind.example:6514', description: 'SIEM' });
  const http = { kind: 'HTTP', target: 'https://logs.northwind.example/ingest?index=8c1f', secret: 'Bearer x' };
  const failing = await create({ ...http, description: 'Log store', types: ['user.*', 'otp.*'] });
  const paused = await create({ ...http, types: ['project.*'] });
  const client = await openDatabase(latchkey);
  await client.query(
    `update log_streams set position = 1, next_attempt_at = now() + interval '40 seconds', last_delivered_at = now() - interval '4 minutes',
       failures = case when id = $1 then 7 else 0 end, failing_since = case when id = $1 then now() - interval '3 minutes' end,
       last_error = case when id = $1 then 'status 401' end, paused = id = $2, created_at = now() - interval '40 days'`,
    [failing, paused],
  );
  await client.end();
  return failing;
}
