import type { Connection } from '../harness/http.ts';
import type { Workload } from '../harness/measure.ts';
import { authorizePath, newDeviceKey } from './browser.ts';
import { type Directory, filterByName, find, nameOf, patchUser } from './directory.ts';
import type { BenchedLatchkey } from './latchkey.ts';
import { onDatabase } from './population.ts';
import { redirectUri, signInAndAsk } from './relying.ts';

export interface CustomerCount {
  organizations: number;
  /** In total, all at home in one of them. */
  members: number;
  /** Of the first organizations, one each; these require it. */
  connections: number;
}

/** The project and its application. */
interface Project {
  projectId: string;
  clientId: string;
  publishableKey: string;
  issuer: string;
}

/** Members of one statement. */
const batch = 200_000;
/** Sessions of members, spread over all. */
const sessionCount = 1000;

/** Ids and secrets that SQL and this program derive from numbers. */
const id = (kind: string, n: string) => `('00000000-0000-7000-8${kind}-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
const idOf = (kind: string, n: number) => `00000000-0000-7000-8${kind}-${n.toString(16).padStart(12, '0')}`;
const secretOf = (prefix: string, n: number) => `${prefix}${n.toString(16).padStart(43, '0')}`;
const hashOf = (prefix: string, n: string) =>
  `translate(rtrim(encode(sha256(('${prefix}' || lpad(to_hex(${n}), 43, '0'))::bytea), 'base64'), '='), '+/', '-_')`;
const [organization, user, session] = ['b01', 'b02', 'b03'] as const;

/**
 * A project with organizations, filled by SQL: each with a verified domain, a SCIM token and as many members as the others, whose
 * directory provisioned them.
 */
export class Customers {
  static async fill(latchkey: BenchedLatchkey, count: CustomerCount): Promise<Customers> {
    const { api, server } = latchkey;
    const projectId = await api.createProject('Customers');
    const settings = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
    await api.run(settings, { input: { id: projectId, organizationsEnabled: true } });
    const client = { projectId, name: 'Application', redirectUris: [redirectUri], tokenEndpointAuthMethod: 'NONE' };
    const { clientId, publishableKey } = await api.createClient(client);
    const issuer = await api.issuerOf(projectId);
    const { organizations, members, connections } = count;
    const each = members / organizations;
    await onDatabase(server, async (database) => {
      const run = (text: string, ...values: unknown[]) => database.query(text, [projectId, ...values]);
      await run(
        `insert into organizations (project_id, id, slug, name, sign_in, created_at, updated_at)
         select $1, ${id(organization, 'n')}, 'customer-' || n, 'Customer ' || n, case when n < $3::int then 'connection' else 'any' end, now(), now()
         from generate_series(0, $2::int - 1) n`,
        organizations,
        connections,
      );
      await run(
        `insert into organization_domains (project_id, id, organization_id, domain, state, proved_by, challenge, created_at, verified_at)
         select $1, gen_random_uuid(), ${id(organization, 'n')}, 'customer-' || n || '.example', 'verified', 'admin', 'x', now(), now()
         from generate_series(0, $2::int - 1) n`,
        organizations,
      );
      await run(
        `insert into connections (project_id, id, organization_id, kind, preset, name, state, settings, jit, refreshes_profile, mappings, created_at, updated_at)
         select $1, gen_random_uuid(), ${id(organization, 'n')}, 'oidc', 'generic', 'Provider', 'enabled', '{}', true, false, '{}', now(), now()
         from generate_series(0, $2::int - 1) n`,
        connections,
      );
      await run(
        `insert into scim_tokens (project_id, id, organization_id, name, hash, hint, created_at)
         select $1, gen_random_uuid(), ${id(organization, 'n')}, 'Directory', ${hashOf('lk_scim_', 'n')}, '', now()
         from generate_series(0, $2::int - 1) n`,
        organizations,
      );
      for (let from = 0; from < members; from += batch) {
        await run(
          `with made as (
             insert into users (id, project_id, organization_id, user_name, user_name_key, external_id, display_name, given_name, family_name,
               email, email_key, active, provenance, attributes, version, created_at, updated_at)
             select ${id(user, 'n')}, $1, ${id(organization, 'n / $4::int')}, name, name, 'ext-' || n, 'User ' || n, 'User', 'Number ' || n,
               address, address, true, 'scim', jsonb_build_object('emails',
                 jsonb_build_array(jsonb_build_object('value', address, 'type', 'work', 'primary', true))), 1, now(), now()
             from generate_series($2::int, $3::int - 1) n, lateral (select 'user-' || lpad((n % $4::int)::text, 6, '0') || '@example.com',
               'user-' || n || '@customer-' || n / $4::int || '.example') as t(name, address)
             returning id, project_id, organization_id, email_key
           ), addresses as (
             insert into user_emails (user_id, value_key, project_id) select id, email_key, project_id from made
           )
           insert into organization_memberships (project_id, id, organization_id, user_id, source, created_at)
           select project_id, id, organization_id, id, 'directory', now() from made`,
          from,
          Math.min(members, from + batch),
          each,
        );
      }
      await run(
        `insert into sessions (id, project_id, user_id, secret_hash, auth_time, amr, connected, created_at, last_seen_at, idle_expires_at, expires_at)
         select ${id(session, 'n')}, $1, u.id, ${hashOf('', 'n')}, now(), '{swk}', jsonb_build_object(u.organization_id, now()), now(), now(),
           now() + interval '8 hours', now() + interval '12 hours'
         from generate_series(0, $2::int - 1) n join users u on u.project_id = $1 and u.id = ${id(user, `(n::bigint * $3::int / $2::int)`)}`,
        Math.min(sessionCount, members),
        members,
      );
      await database.query('vacuum analyze');
    });
    return new Customers(latchkey, count, { projectId, clientId, publishableKey, issuer });
  }

  private readonly latchkey: BenchedLatchkey;
  private readonly count: CustomerCount;
  private readonly of: Project;

  private constructor(latchkey: BenchedLatchkey, count: CustomerCount, of: Project) {
    this.latchkey = latchkey;
    this.count = count;
    this.of = of;
  }

  private get each(): number {
    return this.count.members / this.count.organizations;
  }

  /** Challenge, and an address in the domain of an organization: the page is sent to its connection. */
  homeRealm(): Workload {
    const { publishableKey } = this.of;
    const headers = {
      ...{ 'X-Api-Key': publishableKey, 'Content-Type': 'application/json' },
      Origin: new URL(redirectUri).origin,
    };
    const { jkt } = newDeviceKey();
    const step = async (connection: Connection, name: string, body: object) =>
      (await connection.ask({ method: 'POST', path: `/v1/signin/${name}`, headers, body: JSON.stringify(body) })).body;
    const operation: Workload['operation'] = async (connection, worker, count) => {
      const at = spread(worker, count, this.count.connections);
      const { txn } = JSON.parse(await step(connection, 'challenge', { jkt })) as { txn: string };
      const userid = `someone-${count}@customer-${at}.example`;
      const answer = await step(connection, 'authenticate', { txn, userid });
      if (!answer.includes('CONNECTION_REQUIRED')) throw new Error(`not led to the connection: ${answer}`);
    };
    return { operation };
  }

  /** Authorization in the organization of a live session → code → exchange → UserInfo, at the issuer of the project. */
  signInAndAsk(): Workload {
    const { projectId, clientId, publishableKey, issuer } = this.of;
    const path = new URL(issuer).pathname;
    const { baseUrl } = this.latchkey.server;
    const sessions = Math.min(sessionCount, this.count.members);
    const operation: Workload['operation'] = (connection, worker, count) => {
      const n = spread(worker, count, sessions);
      const of = Math.floor((n * this.count.members) / sessions / this.each);
      const cookie = `lk-session-${projectId}=${secretOf('', n)}`;
      const application = { baseUrl, projectId, clientId, publishableKey, redirectUri };
      return signInAndAsk({
        ...{ clientId, redirectUri, issuer, tokenPath: `${path}/oauth2/token`, userInfoPath: `${path}/userinfo` },
        cookie: () => cookie,
        authorize: (challenge) => `${path}${authorizePath(application, challenge)}&organization=customer-${of}`,
      }).operation(connection, worker, count);
    };
    return { operation };
  }

  private directoryOf(worker: number, count: number): Directory {
    const at = spread(worker, count, this.count.organizations);
    const path = `/v1/scim/${idOf(organization, at)}`;
    return { path, token: secretOf('lk_scim_', at), population: this.each };
  }

  filterByName(): Workload {
    const operation: Workload['operation'] = async (connection, worker, count) => {
      await find(this.directoryOf(worker, count), connection, nameOf(spread(worker, count, this.each)));
    };
    return { operation };
  }

  listPage(): Workload {
    const operation: Workload['operation'] = async (connection, worker, count) => {
      const { path, token: bearer } = this.directoryOf(worker, count);
      const headers = { Authorization: `Bearer ${bearer}` };
      const { body, status } = await connection.ask({ path: `${path}/Users?count=10`, headers });
      const { Resources: page } = JSON.parse(body) as { Resources: unknown[] };
      if (status !== 200 || page.length !== Math.min(10, this.each)) throw new Error(`list: ${status} ${body}`);
    };
    return { operation };
  }

  patchUser(): Workload {
    // An organization for each worker: concurrent changes of one user may conflict.
    const operations = Array.from({ length: 64 }, (_, worker) => patchUser(this.directoryOf(worker, 0)).operation);
    const operation: Workload['operation'] = (connection, worker, count) =>
      (operations[worker % 64] ?? filterByName(this.directoryOf(worker, 0)).operation)(connection, worker, count);
    return { operation };
  }

  /** A page of the console. */
  private asks(query: string, variables: (at: number) => object): Workload {
    const { server } = this.latchkey;
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${server.adminToken}` };
    const operation: Workload['operation'] = async (connection, worker, count) => {
      const given = variables(spread(worker, count, this.count.organizations));
      const body = JSON.stringify({ query, variables: given });
      const answer = await connection.ask({ method: 'POST', path: '/admin/graphql', headers, body });
      if (answer.status !== 200 || answer.body.includes('"errors"')) throw new Error(answer.body);
    };
    return { operation };
  }

  listOrganizations(search?: (at: number) => string): Workload {
    const query = `query ($projectId: ID!, $search: String) { organizations(projectId: $projectId, search: $search, first: 10) {
      totalCount pageInfo { hasNextPage endCursor } edges { node { id name slug state memberCount createdAt } } } }`;
    const { projectId } = this.of;
    return this.asks(query, (at) => ({ projectId, ...(search && { search: search(at) }) }));
  }

  people(): Workload {
    const query = `query ($id: ID!) { organization(id: $id) { id name memberCount }
      organizationMembers(organizationId: $id, first: 10) { pageInfo { hasNextPage endCursor } edges { node { id state source
        user { id userName displayName active } roles { id key name } } } } }`;
    return this.asks(query, (at) => ({ id: idOf(organization, at) }));
  }
}

/** Far from the previous index, equal for all contenders. */
function spread(worker: number, count: number, size: number): number {
  return ((worker * 7919 + count) * 104_729) % size;
}
