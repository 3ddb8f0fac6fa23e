import type pg from 'pg';
import { system } from '../src/domain/kernel/actor.ts';
import { keyIn } from '../src/domain/projects/tenant.ts';
import { TestBackEnd } from './back-end.ts';
import type { TestApp } from './build-app.ts';
import { redirectUri } from './factories.ts';
import { addObjects } from './project-objects.ts';
import { RelyingParty } from './relying-party.ts';
import { newDeviceKey, SigninPage } from './signin-browser.ts';

/** The address of the user of each tenant. */
export const address = 'ada@example.com';
const origin = new URL(redirectUri).origin;

/** A project, the ids of its objects, and a credential of each kind. */
export type Tenant = Awaited<ReturnType<typeof tenant>>;

export async function tenant(app: TestApp) {
  const { services, make } = app;
  const project = await make.project({ name: 'Acme' });
  const { client, publishableKey } = await make.client(project);
  const names = { userName: address, userNameKey: address, email: address, emailKey: address };
  const user = await make.user(project, { ...names, externalId: 'e-1' });
  const owned = { projectId: project.id, clientId: client.id, userId: user.id, tag: 'acme' };
  const { ids, scimToken } = await addObjects(services, owned);
  await services.roles.assign(keyIn(project.id, ids.role), { userId: user.id }, system);
  await services.apis.grant(keyIn(project.id, client.id), ids.api, { scopes: ['read'], introspects: true }, system);
  const directory = { projectId: project.id, organizationId: ids.organization, name: 'Directory' };
  const ofOrganization = await services.directories.issueScimToken(directory, system);
  const nameless = { externalId: null, displayName: null, givenName: null, familyName: null };
  const values = { userName: 'ada', ...nameless, active: true, attributes: {} };
  const { id: atHome } = await services.admissions.provision(directory, values, system);
  const grants = { owner: true, projects: new Map(), organizations: new Map() };
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
    ...ids,
    ...{ app, project, client, publishableKey, user, scimToken, rp, page, sessionId },
    /** The token of an admin of the project. */
    adminToken: admin.token,
    /** Of the directory of `organization`. */
    organizationScimToken: ofOrganization.token,
    /** The id of a user at home there. */
    atHome,
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
