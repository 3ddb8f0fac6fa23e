import type pg from 'pg';
import type { Client } from '../src/domain/clients/client.entity.ts';
import { system } from '../src/domain/kernel/actor.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import { keyIn } from '../src/domain/projects/tenant.ts';
import type { User } from '../src/domain/users/user.entity.ts';
import { TestBackEnd } from './back-end.ts';
import type { TestApp } from './build-app.ts';
import { redirectUri } from './factories.ts';
import { RelyingParty } from './relying-party.ts';
import { newDeviceKey, SigninPage } from './signin-browser.ts';

/** The address of the user of each tenant. */
export const address = 'ada@example.com';
const origin = new URL(redirectUri).origin;

/** A project, and a credential or id of each kind. */
export interface Tenant {
  app: TestApp;
  project: Project;
  client: Client;
  backEnd: TestBackEnd;
  publishableKey: string;
  scimToken: string;
  /** The token of an admin of the project. */
  adminToken: string;
  user: User;
  group: string;
  /** A group that belongs to no directory. */
  localGroup: string;
  /** An API that the client may use. */
  api: string;
  domain: string;
  /** A role of the client, held by the user. */
  role: string;
  /** An organization, a role in it, and the membership of the user. */
  organization: string;
  organizationRole: string;
  membership: string;
  /** An invitation to it. */
  invitation: string;
  /** A domain of it. */
  organizationDomain: string;
  rp: RelyingParty;
  page: SigninPage;
  tokens: { id_token: string; access_token: string };
  sessionId: string;
  sessionSecret: string;
}

export async function tenant(app: TestApp): Promise<Tenant> {
  const { services, make } = app;
  const project = await make.project({ name: 'Acme' });
  const { client, publishableKey } = await make.client(project);
  const names = { userName: address, userNameKey: address, email: address, emailKey: address };
  const user = await make.user(project, { ...names, externalId: 'e-1' });
  const group = await services.groups.create(
    project.id,
    { displayName: 'Staff', externalId: 'g-1' },
    [user.id],
    system,
  );
  const { id: role } = await services.roles.create(
    keyIn(project.id, client.id),
    { key: 'editor', name: 'Editor' },
    system,
  );
  await services.roles.assign(keyIn(project.id, role), { userId: user.id }, system);
  const organization = await services.organizations.create(project.id, { slug: 'acme', name: 'Acme' }, system);
  const organizationRole = await services.organizationRoles.create(project.id, { key: 'admin', name: 'Admin' }, system);
  const member = { userId: user.id, roleKeys: ['admin'] };
  const membership = await services.memberships.add(organization, member, system);
  await services.projects.update(project.id, { organizationsEnabled: true }, system);
  const invitation = await services.organizationInvitations.invite(organization, { email: 'eve@example.com' }, system);
  const mailDomain = await services.organizationDomains.add(organization, 'example.com', system);
  const scopes = [{ key: 'read', description: 'Read' }];
  const values = { projectId: project.id, identifier: 'https://api.example.com', name: 'Orders', scopes };
  const api = await services.apis.create(values, system);
  const { id: domain } = await services.domains.create(project.id, 'login.example.com', system);
  await services.apis.grant(keyIn(project.id, client.id), api.id, { scopes: ['read'], introspects: true }, system);
  const scim = await services.directories.issueScimToken({ projectId: project.id, name: 'Directory' }, system);
  const grants = { owner: true, projects: new Map() };
  const admin = await services.admins.createToken(
    { name: 'Admin', role: 'project_admin', projectId: project.id },
    { grants, actor: system },
  );
  const rp = new RelyingParty(app, client);
  const sessionId = await rp.signIn(user);
  const now = () => app.clock.now().getTime() / 1000;
  const page = new SigninPage(app.url, { origin, apiKey: publishableKey }, await newDeviceKey(), now);
  await page.challenge();
  return {
    ...{
      app,
      project,
      client,
      publishableKey,
      scimToken: scim.token,
      adminToken: admin.token,
      user,
      group: group.id,
      localGroup: (await services.localGroups.create(project.id, 'On call', system)).id,
      role,
      api: api.id,
      domain,
      organization: organization.id,
      organizationRole: organizationRole.id,
      membership: membership.id,
      invitation: invitation.id,
      organizationDomain: mailDomain.id,
      rp,
      page,
      sessionId,
    },
    backEnd: await TestBackEnd.of(app, project),
    tokens: await rp.tokens(),
    sessionSecret: rp.browser.cookies.get(`lk-session-${project.id}`) as string,
  };
}

/** The tables whose rows belong to projects. */
export async function tenantTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`select c.relname as name from pg_class c
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attname = 'project_id' order by 1`);
  return rows.map(({ name }) => name);
}
