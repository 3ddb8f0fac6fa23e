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
      await client.query(
        `insert into projects (id, name, created_at, updated_at)
         select ${id('project', 'n')}, 'Tenant ' || n, now(), now() from generate_series(0, $1::int - 1) n`,
        [projects],
      );
      await client.query(
        `insert into clients (id, project_id, name, token_endpoint_auth_method, redirect_uris, post_logout_redirect_uris,
           created_at, updated_at)
         select ${id('client', 'n')}, ${id('project', 'n')}, 'Application', 'none', array[$2], '{}', now(), now()
         from generate_series(0, $1::int - 1) n`,
        [projects, redirectUri],
      );
      for (const [table, kind, owner, more] of [
        ['api_keys', 'key', `client_id, kind`, `${id('client', 'n')}, 'publishable'`],
        ['scim_tokens', 'token', 'project_id, name', `${id('project', 'n')}, 'Directory'`],
      ] as const) {
        await client.query(
          `insert into ${table} (id, ${owner}, hash, hint, created_at)
           select ${id(kind, 'n')}, ${more}, ${hashOf(kind, 'n')}, '', now() from generate_series(0, $1::int - 1) n`,
          [projects],
        );
      }
      await client.query(
        `with made as (
           insert into users (id, project_id, user_name, user_name_key, external_id, display_name, given_name, family_name,
             email, email_key, active, provenance, attributes, version, created_at, updated_at)
           select ${id('user', 'n')}, ${id('project', 'n / $2::int')}, name, name, 'ext-' || n, 'User ' || n, 'User',
             'Number ' || n, name, name, true, 'scim', jsonb_build_object('emails',
               jsonb_build_array(jsonb_build_object('value', name, 'type', 'work', 'primary', true))), 1, now(), now()
           from generate_series(0, $1::int - 1) n,
             lateral (select 'user-' || lpad((n % $2::int)::text, 6, '0') || '@example.com') as t(name)
           returning id, project_id, email_key
         )
         insert into user_emails (user_id, value_key, project_id) select id, email_key, project_id from made`,
        [users, usersEach],
      );
      await client.query(
        `insert into credentials (id, project_id, client_id, user_id, jkt, public_jwk, alg, name, trusted_until, created_at, last_used_at)
         select ${id('device', 'n')}, ${id('project', 'n / $2::int')}, ${id('client', 'n / $2::int')}, ${id('user', 'n')},
           case n % $3::int when 0 then ($4::text[])[n / $3::int + 1] else 'of device ' || n end,
           ($5::text[])[n / $3::int + 1]::jsonb, 'ES256', 'Browser', now() + interval '30 days', now(), now()
         from generate_series(0, $1::int - 1) n`,
        [users, usersEach, apart, deviceKeys.map(({ jkt }) => jkt), deviceKeys.map(({ jwk }) => JSON.stringify(jwk))],
      );
      const user = '(n::bigint * 7919 % $2::int)';
      await client.query(
        `insert into sessions (id, project_id, user_id, secret_hash, auth_time, amr, created_at, last_seen_at, idle_expires_at, expires_at)
         select ${id('session', 'n')}, ${id('project', `${user} / $3::int`)}, ${id('user', user)}, ${hashOf('session', 'n')},
           now(), '{swk}', now(), now(), now() + interval '30 minutes', now() + interval '8 hours'
         from generate_series(0, $1::int - 1) n`,
        [sessions, users, usersEach],
      );
      await client.query(
        `insert into participations (project_id, session_id, client_id, first_at, last_at)
         select s.project_id, s.id, c.id, now(), now() from sessions s join clients c on c.project_id = s.project_id
         where s.id >= ${id('session', '0')}`,
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
