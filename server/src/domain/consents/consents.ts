import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Page, type PageRequest, type Total, totalOf } from '../kernel/page.ts';
import type { Random } from '../kernel/random.ts';
import { type Executing, execute, type Fragment, query, sql } from '../kernel/sql.ts';
import { organizationsScope, userScopes } from '../projects/issuer.ts';
import type { TenantKey } from '../projects/tenant.ts';
import type { User } from '../users/user.entity.ts';
import { ofUser } from '../users/user-tables.ts';

/** A client's request for a user's consent: columns or values, in SQL. */
interface Wanted {
  /** Whether the client is a third party. */
  isThirdParty: Fragment;
  projectId: Fragment;
  clientId: Fragment;
  userId: Fragment;
  /** Separated by spaces. */
  scope: Fragment;
  /** The API of the tokens, in an array; empty: UserInfo. A third-party client asks for at most one. */
  resources: Fragment;
  /** The organization of its context; null: none. */
  organizationId: Fragment | null;
}

/** A scope of an API in a consent. No scope contains a space: the entry matches no other API and no scope of users. */
const scopeAt = (api: string, scope: string) => `${api} ${scope}`;

/** The entries of a consent for the scopes of a request. @param resources its API, if any */
function consentedScopes(scope: string, resources: readonly string[]): string[] {
  const [api] = resources;
  return scope.split(' ').map((one) => (api === undefined || userScopes.includes(one) ? one : scopeAt(api, one)));
}

/** SQL: {@link consentedScopes}. */
function consented(scope: Fragment, resources: Fragment): Fragment {
  return sql`array(select case when cardinality(${resources}) = 0 or asked.one = any(${[...userScopes]}::text[]) then asked.one
    else (${resources})[1] || ' ' || asked.one end from unnest(string_to_array(${scope}, ' ')) asked(one))`;
}

/**
 * SQL condition: the user allows the client this scope in this organization, or need not be asked. The only check of consent: when a
 * code is issued, and again when it is redeemed, refreshed, or its token used. Each organization is asked for, unless the user
 * allows the client to see all (decisions/0406).
 */
export function isAllowed(wanted: Wanted): Fragment {
  const { isThirdParty, projectId, clientId, userId, scope, resources, organizationId } = wanted;
  const inOrganization = sql`and (${organizationId}::uuid is null or ${organizationId}::uuid = any(allowed.organization_ids)
      or ${organizationsScope} = any(allowed.scopes))`;
  return sql`(not ${isThirdParty} or exists (select 1 from consents allowed where allowed.project_id = ${projectId}
    and allowed.user_id = ${userId} and allowed.client_id = ${clientId}
    and ${consented(scope, resources)} <@ allowed.scopes ${organizationId === null ? sql`` : inOrganization}))`;
}

/** A client that asks for access. */
type AskingClient = TenantKey & { thirdParty: boolean };

/** {@link isAllowed} for a client whose version the statement checks: without a subquery if it is not of a third party. */
export function isAllowedTo(
  { id, project, thirdParty }: AskingClient,
  userId: Fragment,
  asked: Pick<Wanted, 'scope' | 'resources' | 'organizationId'>,
): Fragment {
  if (!thirdParty) return sql`true`;
  const [projectId, clientId] = [sql`${project.id}::uuid`, sql`${id}::uuid`];
  return isAllowed({ isThirdParty: sql`true`, projectId, clientId, userId, ...asked });
}

/** What a client asks for. */
export interface AskedScope {
  /** Separated by spaces. */
  scope: string;
  /** The API of the tokens; empty: UserInfo. */
  resources: readonly string[];
  /** The organization of its context; null: none. */
  organizationId: string | null;
}

type AskedUser = Pick<User, 'id' | 'userName'>;

export interface GivenConsent {
  id: string;
  project: { id: string };
  clientId: string;
  userId: string;
  scopes: string[];
  createdAt: Date;
  /** Time at which scopes were last allowed. */
  updatedAt: Date;
}

/** The consents of a project; of one user, one client, or both. */
export interface ConsentsOf {
  projectId: string;
  userId?: string | undefined;
  clientId?: string | undefined;
}

/** Consents of users to third-party applications. */
export class Consents {
  constructor(private readonly deps: { clock: Clock; random: Random; audit: Audit }) {}

  /** Whether the user must be asked before the client gets this. */
  async isRequired(on: Executing, client: AskingClient, userId: string, asked: AskedScope): Promise<boolean> {
    if (!client.thirdParty) return false;
    const allowed = isAllowedTo(client, sql`${userId}::uuid`, {
      scope: sql`${asked.scope}::text`,
      resources: sql`${[...asked.resources]}::text[]`,
      organizationId: asked.organizationId === null ? null : sql`${asked.organizationId}::uuid`,
    });
    const [row] = await query(on, sql<{ allowed: boolean }>`select ${allowed} as allowed`);
    return row?.allowed !== true;
  }

  /** Stores that the user allows the client this, in addition to what they allowed before. Joins the transaction. */
  async give(em: EntityManager, client: TenantKey, user: AskedUser, asked: AskedScope, actor: Actor): Promise<void> {
    const { audit, clock, random } = this.deps;
    const now = clock.now();
    const scopes = consentedScopes(asked.scope, asked.resources);
    const { organizationId } = asked;
    const organizationIds = organizationId === null ? [] : [organizationId];
    await execute(
      em,
      sql`insert into consents (project_id, id, client_id, user_id, scopes, organization_ids, created_at, updated_at)
        values (${client.project.id}, ${random.id()}, ${client.id}, ${user.id}, ${scopes}::text[], ${organizationIds}::uuid[], ${now}, ${now})
        on conflict (project_id, user_id, client_id) do update set updated_at = excluded.updated_at,
          scopes = array(select distinct unnest(consents.scopes || excluded.scopes)),
          organization_ids = array(select distinct unnest(consents.organization_ids || excluded.organization_ids))`,
    );
    audit.record(em, { type: 'consent.given', actor, ...about(client, user), detail: detailOf(asked) });
  }

  /** Records that the user refused. */
  refused(em: EntityManager, client: TenantKey, user: AskedUser, asked: AskedScope, actor: Actor): void {
    const detail = detailOf(asked);
    this.deps.audit.record(em, { type: 'consent.refused', actor, ...about(client, user), detail });
  }

  /** Oldest first. */
  async list(on: Executing, user: TenantKey): Promise<GivenConsent[]> {
    const rows = await query(on, sql<ConsentRow>`select ${columns} from consents where ${ofUser(user)} order by id`);
    return rows.map(toConsent);
  }

  /** Newest first. */
  async page(on: Executing, of: ConsentsOf, { first, after }: PageRequest): Promise<Page<GivenConsent>> {
    const rows = await query(
      on,
      sql<ConsentRow>`select ${columns} from consents
        where ${chosen(of)} and (${after}::uuid is null or id < ${after}::uuid) order by id desc limit ${first + 1}`,
    );
    return { items: rows.slice(0, first).map(toConsent), hasNextPage: rows.length > first };
  }

  count(on: Executing, of: ConsentsOf): Promise<Total> {
    return totalOf(on, sql`from consents where ${chosen(of)}`);
  }
}

function chosen({ projectId, userId, clientId }: ConsentsOf): Fragment {
  return sql`project_id = ${projectId} and (${userId ?? null}::uuid is null or user_id = ${userId ?? null}::uuid)
    and (${clientId ?? null}::uuid is null or client_id = ${clientId ?? null}::uuid)`;
}

const columns = sql`project_id, id, client_id, user_id, scopes, created_at, updated_at`;

interface ConsentRow {
  project_id: string;
  id: string;
  client_id: string;
  user_id: string;
  scopes: string[];
  created_at: Date | string;
  updated_at: Date | string;
}

function toConsent(row: ConsentRow): GivenConsent {
  return {
    id: row.id,
    project: { id: row.project_id },
    clientId: row.client_id,
    userId: row.user_id,
    scopes: row.scopes,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}

function detailOf({ scope, resources, organizationId }: AskedScope) {
  return { scopes: consentedScopes(scope, resources), ...(organizationId !== null && { organizationId }) };
}

function about({ id: clientId, project }: TenantKey, { id, userName: name }: AskedUser) {
  return { projectId: project.id, clientId, subject: { kind: 'user', id, name } };
}
