import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, isPast, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { cleanName, linkFault } from '../kernel/name.ts';
import { addressOf } from '../kernel/network.ts';
import { refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { openProject } from '../kernel/scope.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { execute, type Fragment, query, sql } from '../kernel/sql.ts';
import { checkedNetworks } from '../projects/networks.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, keyIn, locked, type TenantKey } from '../projects/tenant.ts';
import { ScimToken } from './scim-token.entity.ts';

export interface ScimTokenInput {
  projectId: string;
  name: string;
  /** Absent: it does not expire. */
  expiresAt?: Date | null | undefined;
  /** See {@link checkedNetworks}; none: from anywhere. */
  networks?: readonly string[] | undefined;
}

/** An application whose access token for SCIM is valid. */
interface ScimApplication {
  id: string;
  name: string;
  projectId: string;
}

/** The credential of a directory. */
export interface ScimCredential {
  authorization: string | undefined;
  /** The application of an access token in `authorization`. */
  application?: ScimApplication | undefined;
  /** Address of the client. */
  ip: string | undefined;
}

/** A token that expires soon. */
export interface ExpiringToken extends TenantKey {
  name: string;
  projectName: string;
  expiresAt: Date;
  /** 30, 7 or 1. */
  days: number;
}

/** A directory whose token has been checked. */
export interface Directory {
  projectId: string;
  /** The ID of the SCIM token or of the application. */
  tokenId: string;
  tokenName: string;
  /** The version of the project's definitions of custom attributes; null: there are none. */
  schemaVersion: number | null;
}

interface AuthenticationRow {
  enabled: boolean;
  configured: boolean;
  token_id: string | null;
  token_name: string;
  is_near: boolean;
  schema_version: number | null;
}

/** Lets secret scanners recognize SCIM tokens. */
const scimTokenPrefix = 'lk_scim_';
const notSetUpRetrySeconds = 60;
const secondsOfDay = 24 * 3600;
/** A token that is used from other networks is recorded at most once in this time. */
const refusalsSeconds = 3600;
/** Maximum number of live tokens of a project. */
const maxTokens = 100;
/** Maximum number of tokens that one run of the job warns about. */
const maxWarnings = 500;
const noProject = '00000000-0000-0000-0000-000000000000';

/** SCIM tokens of projects. Several may be live at once, so that one can be rotated. */
export class Directories {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit }) {}

  /** A new token, which cannot be read again. Refuses `not-found` (project), `invalid`. */
  async issueScimToken(input: ScimTokenInput, actor: Actor): Promise<{ token: string; scimToken: ScimToken }> {
    const name = cleanName(input.name);
    // Admins, and owners, get mails with the name.
    const fault = linkFault(name);
    if (fault !== null) refuse({ code: 'invalid', field: 'name', reason: fault });
    const networks = checkedNetworks(input.networks ?? [], { field: 'networks' });
    const now = this.deps.clock.now();
    const expiresAt = input.expiresAt ?? null;
    if (expiresAt && (Number.isNaN(expiresAt.getTime()) || isPast(expiresAt, now))) {
      refuse({ code: 'invalid', field: 'expiresAt', reason: 'must be in the future' });
    }
    return this.deps.db.transaction(async (em) => {
      const project = await existing(em, Project, input.projectId, 'project');
      if (project.builtIn === 'console') {
        refuse({ code: 'forbidden', reason: 'SCIM is not available for the project of the admins' });
      }
      const isUnexpired = [{ expiresAt: null }, { expiresAt: { $gt: now } }];
      // Serialized, so that the limit holds. Sign-ins only reference the project and do not wait.
      await query(em, sql`select 1 from projects where id = ${project.id} for no key update`);
      if ((await em.count(ScimToken, { project, revokedAt: null, $or: isUnexpired })) >= maxTokens) {
        refuse({ code: 'invalid', field: 'projectId', reason: `already has ${maxTokens} tokens: revoke one first` });
      }
      const token = newSecret(this.deps.random, scimTokenPrefix);
      const scimToken = em.create(ScimToken, {
        id: this.deps.random.id(),
        project: project.id,
        name,
        hash: digest(token),
        hint: token.slice(-4),
        expiresAt,
        networks,
        createdAt: now,
      });
      em.persist(scimToken);
      this.record(em, 'scim-token.issued', scimToken, project.id, actor);
      return { token, scimToken };
    });
  }

  /** Takes effect from the next request. Revoking twice changes nothing. Refuses `not-found`. */
  async revokeScimToken(key: TenantKey, actor: Actor): Promise<ScimToken> {
    return this.deps.db.transaction(async (em) => {
      const token = await existing(em, ScimToken, key, 'scim-token', locked);
      if (token.revokedAt) return token;
      token.revokedAt = this.deps.clock.now();
      this.record(em, 'scim-token.revoked', token, token.project.id, actor);
      return token;
    });
  }

  /** A token for a self-test, which expires and is not audited. Refuses `not-found`, `forbidden`. */
  async issueTemporary(projectId: string, seconds: number): Promise<TenantKey & { token: string }> {
    return this.deps.db.transaction(async (em) => {
      const project = await existing(em, Project, projectId, 'project');
      if (project.builtIn === 'console') {
        refuse({ code: 'forbidden', reason: 'SCIM is not available for the project of the admins' });
      }
      const token = newSecret(this.deps.random, scimTokenPrefix);
      const now = this.deps.clock.now();
      const id = this.deps.random.id();
      em.persist(
        em.create(ScimToken, {
          id,
          project: project.id,
          name: 'Self-test',
          hash: digest(token),
          hint: token.slice(-4),
          expiresAt: secondsLater(now, seconds),
          createdAt: now,
        }),
      );
      return { project, id, token };
    });
  }

  async removeTemporary({ project, id }: TenantKey): Promise<void> {
    await execute(this.deps.db.alone, sql`delete from scim_tokens where project_id = ${project.id} and id = ${id}`);
  }

  /** Newest first, revoked ones too. */
  async scimTokens(projectId: string): Promise<ScimToken[]> {
    return this.deps.db.reader().find(ScimToken, { project: projectId }, { orderBy: { id: 'desc' } });
  }

  /**
   * The directory of a request, by one statement. Refuses, in this order and at the same cost: `not-found` if the project
   * does not exist or has SCIM off, `unavailable` if it never had a token, `unauthenticated` unless the header is
   * `Bearer <a live token of this project>`, and `forbidden` from a network that the token excludes.
   */
  async authenticate(projectId: string, { authorization, application, ip }: ScimCredential): Promise<Directory> {
    // The project id comes from the URL: upper case is accepted (RFC 9562 §4).
    const lower = projectId.toLowerCase();
    const id = isUuid(lower) ? lower : noProject;
    openProject(id);
    const [row] = await query(
      this.deps.db.alone,
      sql<AuthenticationRow>`
        select p.scim_enabled and p.built_in is distinct from 'console' as enabled,
          exists (select 1 from scim_tokens a where a.project_id = p.id) as configured,
          t.id as token_id, t.name as token_name,
          t.networks = '{}' or coalesce(${addressOf(ip)}::inet <<= any(t.networks::inet[]), false) as is_near,
          (select version from custom_schemas s where s.project_id = p.id) as schema_version
        from projects p
        left join scim_tokens t on t.project_id = p.id and t.hash = ${hashOf(authorization)} and t.revoked_at is null
          and (t.expires_at is null or t.expires_at > ${this.deps.clock.now()})
        where p.id = ${id}`,
      { prepare: 'directories.authenticate' },
    );
    if (!row?.enabled) refuse({ code: 'not-found', what: 'project' });
    const schemaVersion = row.schema_version;
    if (application?.projectId === id) {
      return { projectId: id, tokenId: application.id, tokenName: application.name, schemaVersion };
    }
    if (!row.configured) {
      refuse({
        code: 'unavailable',
        reason: 'no SCIM token has been issued',
        detail: 'SCIM is not set up: no token has been issued for this project.',
        retryAfterSeconds: notSetUpRetrySeconds,
      });
    }
    if (row.token_id === null) refuse({ code: 'unauthenticated' });
    if (!row.is_near) {
      await this.recordOtherNetwork(keyIn(id, row.token_id), ip);
      refuse({ code: 'forbidden', reason: 'the token may not be used from this network' });
    }
    return { projectId: id, tokenId: row.token_id, tokenName: row.token_name, schemaVersion };
  }

  /** Whether the project exists and has SCIM on. */
  async isOn(projectId: string): Promise<boolean> {
    const on = sql<{ on: boolean }>`select scim_enabled and built_in is distinct from 'console' as "on"
      from projects where id = ${projectId}`;
    const [row] = await query(this.deps.db.alone, on, { prepare: 'directories.is-on' });
    return row?.on ?? false;
  }

  /** Records at most one event per token and hour, for any number of requests. */
  private async recordOtherNetwork({ project, id }: TenantKey, ip: string | undefined): Promise<void> {
    const { audit, clock, db } = this.deps;
    const now = clock.now();
    await db.transaction(async (em) => {
      const [token] = await query(
        em,
        sql<{ name: string }>`update scim_tokens set network_refused_at = ${now}
          where project_id = ${project.id} and id = ${id}
            and (network_refused_at is null or network_refused_at < ${secondsLater(now, -refusalsSeconds)})
          returning name`,
      );
      if (!token) return;
      const subject = { kind: 'scim-token', id, name: token.name };
      const actor = { kind: 'anonymous' as const, ...(ip === undefined ? {} : { ip }) };
      audit.record(em, { type: 'scim-token.network_refused', actor, projectId: project.id, subject });
    });
  }

  /** Tokens due for a warning, 30, 7 or 1 days before they expire. A token with a shorter lifetime has fewer warnings. */
  async expiring(): Promise<TenantKey[]> {
    const rows = await query(
      this.deps.db.alone,
      sql<{ project: string; id: string }>`select t.project_id as project, t.id from scim_tokens t
        where ${this.isDue()} order by t.expires_at limit ${maxWarnings}`,
    );
    return rows.map(({ project, id }) => keyIn(project, id));
  }

  /** Joins: claims the next warning of a token; undefined if it was given in the meantime. */
  async claimWarning(em: EntityManager, { project, id }: TenantKey): Promise<ExpiringToken | undefined> {
    const [row] = await query(
      em,
      sql<{ name: string; project_name: string; expires_at: string; days: number }>`
        update scim_tokens t set warned_days = ${this.daysLeft()} from projects p
        where p.id = t.project_id and t.project_id = ${project.id} and t.id = ${id} and ${this.isDue()}
        returning t.name, p.name as project_name, t.expires_at, t.warned_days as days`,
    );
    if (!row) return undefined;
    const { name, project_name: projectName, expires_at: at, days } = row;
    return { project, id, name, projectName, expiresAt: new Date(at), days };
  }

  /** SQL: the warning that is due for the token `t`, in days. */
  private daysLeft(): Fragment {
    const now = this.deps.clock.now();
    return sql`case when t.expires_at <= ${secondsLater(now, secondsOfDay)}::timestamptz then 1
      when t.expires_at <= ${secondsLater(now, 7 * secondsOfDay)}::timestamptz then 7 else 30 end`;
  }

  private isDue(): Fragment {
    const now = this.deps.clock.now();
    return sql`t.revoked_at is null and t.expires_at > ${now}::timestamptz
      and t.expires_at <= ${secondsLater(now, 30 * secondsOfDay)}::timestamptz
      and (t.warned_days is null or t.warned_days > ${this.daysLeft()})
      and t.created_at < t.expires_at - make_interval(days => ${this.daysLeft()})`;
  }

  private record(em: EntityManager, type: EventType, token: ScimToken, projectId: string, actor: Actor): void {
    this.deps.audit.record(em, {
      type,
      actor,
      projectId,
      subject: { kind: 'scim-token', id: token.id, name: token.name },
      detail: { hint: token.hint, expiresAt: token.expiresAt?.toISOString() ?? null, networks: token.networks },
    });
  }
}

/** SHA-256 of the token in `Bearer <token>`; of the empty string if there is none. */
function hashOf(authorization: string | undefined): string {
  return digest(/^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '');
}
