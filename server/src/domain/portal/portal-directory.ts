import type { Directories } from '../directories/directories.ts';
import type { RequestRecords, TokenRequest } from '../directories/request-records.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, isPast } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import { type Executing, execute, query, sql } from '../kernel/sql.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import type { Issuers } from '../projects/issuers.ts';
import { keyIn } from '../projects/tenant.ts';
import { isOpen, mayDo, type OpenLink } from './open-links.ts';

/** Requests that the contact sees. */
const shownRequests = 10;
/** Of a link. */
const issues: LimitRule = { name: 'portal-directory', max: 30, windowSeconds: 600 };
/** Admins see it in the list of tokens. */
const tokenName = 'Set-up portal';

/** The directory token of the portal links of an organization. */
interface PortalToken {
  id: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  /** Neither revoked nor expired. */
  isLive: boolean;
}

export interface PortalDirectoryState {
  /** Of the SCIM service of the organization. */
  address: string;
  /** Null: none yet. */
  token: PortalToken | null;
  /** The last requests with the token, newest first. */
  requests: TokenRequest[];
  /** The token was used, and not all requests were refused. */
  isConnected: boolean;
}

interface Deps {
  db: Database;
  clock: Clock;
  limits: Pick<Limits, 'spend'>;
  issuers: Pick<Issuers, 'base'>;
  directories: Pick<Directories, 'issueScimToken' | 'revokeScimToken'>;
  requestRecords: Pick<RequestRecords, 'ofToken' | 'settled'>;
}

/**
 * The directory token that the portal links of an organization issue: one, which a later link continues with or replaces. Tokens of
 * admins are not seen.
 */
export class PortalDirectory {
  constructor(private readonly deps: Deps) {}

  async of(link: OpenLink): Promise<PortalDirectoryState> {
    const { db, issuers, requestRecords } = this.deps;
    const { organizationId, projectId } = link;
    const address = `${issuers.base.url}/v1/scim/${organizationId}`;
    // First: it also writes when the token was last used.
    await requestRecords.settled();
    const token = await this.tokenOf(db.alone, link);
    if (!token) return { address, token, requests: [], isConnected: false };
    const kept = await requestRecords.ofToken({ projectId, organizationId }, token.id);
    const isServed = kept.length === 0 || kept.some(({ status }) => status < 400);
    const isConnected = token.isLive && token.lastUsedAt !== null && isServed;
    return { address, token, requests: kept.slice(0, shownRequests), isConnected };
  }

  /**
   * A new token in place of the former, which ends; it cannot be read again. Refuses `too-many`, `forbidden`, and `conflict` unless the
   * former is the one that the contact has seen: a form that is sent twice replaces nothing.
   *
   * @param seen the id of the former token; empty: none
   */
  async issue(link: OpenLink, seen: string, actor: Actor): Promise<string> {
    mayDo(link, 'directory');
    if (!link.hasDirectories) refuse({ code: 'forbidden', reason: 'directories are off in the project' });
    await this.spend(link);
    const { clock, db, directories } = this.deps;
    const { organizationId, projectId } = link;
    return db.together(async (em) => {
      // Serialized: of several forms with the same former token, one replaces it.
      await query(em, sql`select 1 from projects where id = ${projectId}::uuid for no key update`);
      const former = await this.tokenOf(em, link);
      if ((former?.id ?? '') !== seen) refuse({ code: 'conflict', what: 'scim-token' });
      if (former) await directories.revokeScimToken(keyIn(projectId, former.id), actor);
      const input = { projectId, organizationId, name: tokenName };
      const { token, scimToken } = await directories.issueScimToken(input, actor);
      const [row] = await query(
        em,
        sql`update portal_links l set scim_token_id = ${scimToken.id}::uuid
          where l.project_id = ${projectId}::uuid and l.id = ${link.id}::uuid and ${isOpen('l', clock.now())} returning 1`,
      );
      found(row, 'portal-link');
      await execute(
        em,
        sql`update portal_links set scim_token_id = null where project_id = ${projectId}::uuid
          and organization_id = ${organizationId}::uuid and id <> ${link.id}::uuid and scim_token_id is not null`,
      );
      return token;
    });
  }

  private async tokenOf(on: Executing, { organizationId, projectId }: OpenLink): Promise<PortalToken | null> {
    const [row] = await query(
      on,
      sql<{ id: string; created: string; used: string | null; expires: string | null; revoked: boolean }>`select t.id,
          t.created_at as created, t.last_used_at as used, t.expires_at as expires, t.revoked_at is not null as revoked
        from portal_links l join scim_tokens t
          on t.project_id = l.project_id and t.id = l.scim_token_id and t.organization_id = l.organization_id
        where l.project_id = ${projectId}::uuid and l.organization_id = ${organizationId}::uuid`,
    );
    if (!row) return null;
    const isExpired = row.expires !== null && isPast(new Date(row.expires), this.deps.clock.now());
    const lastUsedAt = row.used === null ? null : new Date(row.used);
    return { id: row.id, createdAt: new Date(row.created), lastUsedAt, isLive: !row.revoked && !isExpired };
  }

  /** Committed before the work: a refusal counts. */
  private async spend({ id, projectId }: OpenLink): Promise<void> {
    const { db, limits } = this.deps;
    const spent = await db.transaction((em) => limits.spend(em, issues, `${projectId} ${id}`));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
  }
}
