import type { Workload } from '../harness/measure.ts';
import { type Application, authorizePath, Browser, newDeviceKey } from './browser.ts';
import { type Directory, find, nameOf } from './directory.ts';
import type { BenchedLatchkey } from './latchkey.ts';
import { onDatabase } from './population.ts';
import { type Relying, redirectUri, signInAndAsk } from './relying.ts';

export interface Size {
  projects: number;
  /** Per project. */
  usersEach: number;
  /** In total. */
  sessions: number;
}

/** Prefixes from which SQL and this program derive the same IDs and secrets. */
const kinds = { project: 'a01', client: 'a02', user: 'a03', session: 'a04', device: 'a05', key: 'a06', token: 'a07' };
/** Keys of devices that sign in; the other devices have unknown keys. */
const deviceKeys = Array.from({ length: 1000 }, newDeviceKey);

/** Rows of a statement. */
const batch = 500_000;
/** Sessions outlive the fill of a large database. */
const idleSeconds = 8 * 3600;

/**
 * A database of a given size, filled by SQL: projects with a public client, an API key and a SCIM token each; users
 * with a trusted device each; sessions spread over all users. Requests are spread over all rows.
 */
export class World {
  readonly #latchkey: BenchedLatchkey;
  readonly #size: Size;

  private constructor(latchkey: BenchedLatchkey, size: Size) {
    this.#latchkey = latchkey;
    this.#size = size;
  }

  static async fill(latchkey: BenchedLatchkey, size: Size): Promise<World> {
    const { projects, usersEach, sessions } = size;
    const users = projects * usersEach;
    const apart = World.#apart(size);
    await onDatabase(latchkey.server, async (client) => {
      /** Inserts `total` rows by a statement for the numbers from `$1` to `$2`, in batches. */
      const insert = async (total: number, text: string, values: unknown[] = []) => {
        for (let from = 0; from < total; from += batch)
          await client.query(text, [from, Math.min(total, from + batch) - 1, ...values]);
      };
      const numbers = 'generate_series($1::int, $2::int) n';
      await insert(
        projects,
        `insert into projects (id, name, idle_timeout_seconds, created_at, updated_at)
         select ${id('project', 'n')}, 'Tenant ' || n, ${idleSeconds}, now(), now() from ${numbers}`,
      );
      await insert(
        projects,
        `insert into clients (id, project_id, name, token_endpoint_auth_method, redirect_uris, post_logout_redirect_uris,
           created_at, updated_at)
         select ${id('client', 'n')}, ${id('project', 'n')}, 'Application', 'none', array[$3], '{}', now(), now()
         from ${numbers}`,
        [redirectUri],
      );
      for (const [table, kind, owner, more] of [
        [
          'api_keys',
          'key',
          'project_id, client_id, kind',
          `${id('project', 'n')}, ${id('client', 'n')}, 'publishable'`,
        ],
        ['scim_tokens', 'token', 'project_id, name', `${id('project', 'n')}, 'Directory'`],
      ] as const) {
        await insert(
          projects,
          `insert into ${table} (id, ${owner}, hash, hint, created_at)
           select ${id(kind, 'n')}, ${more}, ${hashOf(kind, 'n')}, '', now() from ${numbers}`,
        );
      }
      await insert(
        users,
        `with made as (
           insert into users (id, project_id, user_name, user_name_key, external_id, display_name, given_name, family_name,
             email, email_key, active, provenance, attributes, version, created_at, updated_at)
           select ${id('user', 'n')}, ${id('project', 'n / $3::int')}, name, name, 'ext-' || n, 'User ' || n, 'User',
             'Number ' || n, name, name, true, 'scim', jsonb_build_object('emails',
               jsonb_build_array(jsonb_build_object('value', name, 'type', 'work', 'primary', true))), 1, now(), now()
           from ${numbers}, lateral (select 'user-' || lpad((n % $3::int)::text, 6, '0') || '@example.com') as t(name)
           returning id, project_id, email_key
         )
         insert into user_emails (user_id, value_key, project_id) select id, email_key, project_id from made`,
        [usersEach],
      );
      await insert(
        users,
        `insert into credentials (id, project_id, client_id, user_id, jkt, public_jwk, alg, name, trusted_until, created_at, last_used_at)
         select ${id('device', 'n')}, ${id('project', 'n / $3::int')}, ${id('client', 'n / $3::int')}, ${id('user', 'n')},
           case n % $4::int when 0 then ($5::text[])[n / $4::int + 1] else 'of device ' || n end,
           ($6::text[])[n / $4::int + 1]::jsonb, 'ES256', 'Browser', now() + interval '30 days', now(), now()
         from ${numbers}`,
        [usersEach, apart, deviceKeys.map(({ jkt }) => jkt), deviceKeys.map(({ jwk }) => JSON.stringify(jwk))],
      );
      const project = `(n::bigint * 7919 % $3::int) / $4::int`;
      await insert(
        sessions,
        `insert into sessions (id, project_id, user_id, secret_hash, auth_time, amr, created_at, last_seen_at, idle_expires_at, expires_at)
         select ${id('session', 'n')}, ${id('project', project)}, ${id('user', '(n::bigint * 7919 % $3::int)')}, ${hashOf('session', 'n')},
           now(), '{swk}', now(), now(), now() + interval '${idleSeconds} seconds', now() + interval '12 hours'
         from ${numbers}`,
        [users, usersEach],
      );
      await insert(
        sessions,
        `insert into participations (project_id, session_id, client_id, first_at, last_at)
         select ${id('project', project)}, ${id('session', 'n')}, ${id('client', project)}, now(), now() from ${numbers}`,
        [users, usersEach],
      );
      await client.query('vacuum analyze');
    });
    return new World(latchkey, size);
  }

  /** Authorization with a live session → code → exchange → UserInfo. */
  signInAndAsk(): Workload {
    const users = this.#size.projects * this.#size.usersEach;
    const operation: Workload['operation'] = (connection, worker, count) => {
      const session = spread(worker, count, this.#size.sessions);
      const project = Math.floor(((session * 7919) % users) / this.#size.usersEach);
      const application = this.#application(project);
      const cookie = `lk-session-${application.projectId}=${secretOf('session', session)}`;
      const relying: Relying = {
        clientId: application.clientId,
        redirectUri,
        issuer: application.baseUrl,
        tokenPath: '/oauth2/token',
        userInfoPath: '/userinfo',
        cookie: () => cookie,
        authorize: (challenge) => authorizePath(application, challenge),
      };
      return signInAndAsk(relying).operation(connection, worker, count);
    };
    return { operation };
  }

  /** Trusted device: challenge → authenticate → code. */
  signIn(): Workload {
    const { projects, usersEach } = this.#size;
    const apart = World.#apart(this.#size);
    const operation: Workload['operation'] = async (connection, worker, count) => {
      const device = spread(worker, count, Math.ceil((projects * usersEach) / apart));
      const user = device * apart;
      const application = this.#application(Math.floor(user / usersEach));
      await new Browser(application, nameOf(user % usersEach), deviceKeys[device]).signIn(connection);
    };
    return { operation };
  }

  /** Distance between users whose devices sign in, to spread them over all. */
  static #apart({ projects, usersEach }: Size): number {
    return Math.max(1, Math.ceil((projects * usersEach) / deviceKeys.length));
  }

  /** SCIM: find a user by userName. */
  filterByName(): Workload {
    const { projects, usersEach } = this.#size;
    const operation: Workload['operation'] = async (connection, worker, count) => {
      const user = spread(worker, count, projects * usersEach);
      const project = Math.floor(user / usersEach);
      const directory: Directory = {
        path: `/v1/scim/${idOf('project', project)}`,
        token: secretOf('token', project),
        population: usersEach,
      };
      await find(directory, connection, nameOf(user % usersEach));
    };
    return { operation };
  }

  #application(project: number): Application {
    return {
      baseUrl: this.#latchkey.server.baseUrl,
      projectId: idOf('project', project),
      clientId: idOf('client', project),
      publishableKey: secretOf('key', project),
      redirectUri,
    };
  }
}

/** Far from the previous index, equal for all contenders. */
function spread(worker: number, count: number, size: number): number {
  return ((worker * 7919 + count) * 104_729) % size;
}

type Kind = keyof typeof kinds;

function idOf(kind: Kind, n: number): string {
  return `00000000-0000-7000-8${kinds[kind]}-${n.toString(16).padStart(12, '0')}`;
}

/** The same in SQL. */
function id(kind: Kind, n: string): string {
  return `('00000000-0000-7000-8${kinds[kind]}-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
}

const prefixes: Partial<Record<Kind, string>> = { key: 'lk_pk_', token: 'lk_scim_' };

function secretOf(kind: Kind, n: number): string {
  return `${prefixes[kind] ?? ''}${n.toString(16).padStart(43, '0')}`;
}

function hashOf(kind: Kind, n: string): string {
  const secret = `'${prefixes[kind] ?? ''}' || lpad(to_hex(${n}), 43, '0')`;
  return `translate(rtrim(encode(sha256((${secret})::bytea), 'base64'), '='), '+/', '-_')`;
}
