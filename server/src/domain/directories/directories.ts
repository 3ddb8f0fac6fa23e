import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, isPast, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { cleanName } from '../kernel/name.ts';
import { found, refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { openProject } from '../kernel/scope.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { Project } from '../projects/project.entity.ts';
import { atKey, type TenantKey } from '../projects/tenant.ts';
import { ScimToken } from './scim-token.entity.ts';

export interface ScimTokenInput {
  projectId: string;
  name: string;
  /** Absent: it does not expire. */
  expiresAt?: Date | null | undefined;
}

/** A directory whose token has been checked. */
export interface Directory {
  projectId: string;
  tokenId: string;
  tokenName: string;
}

/** Lets secret scanners recognise SCIM tokens. */
const scimTokenPrefix = 'lk_scim_';
const notSetUpRetrySeconds = 60;
const noProject = '00000000-0000-0000-0000-000000000000';

/** SCIM tokens of projects. Several may be live at once, so that one can be rotated. */
export class Directories {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit }) {}

  /** A new token, which cannot be read again. Refuses `not-found` (project), `invalid`. */
  async issueScimToken(input: ScimTokenInput, actor: Actor): Promise<{ token: string; scimToken: ScimToken }> {
    const name = cleanName(input.name);
    const now = this.deps.clock.now();
    const expiresAt = input.expiresAt ?? null;
    if (expiresAt && (Number.isNaN(expiresAt.getTime()) || isPast(expiresAt, now))) {
      refuse({ code: 'invalid', field: 'expiresAt', reason: 'must be in the future' });
    }
    return this.deps.db.transaction(async (em) => {
      const project = found(isUuid(input.projectId) ? await em.findOne(Project, input.projectId) : null, 'project');
      if (project.builtIn === 'console') {
        refuse({ code: 'forbidden', reason: 'SCIM is not available for the project of the admins' });
      }
      const token = newSecret(this.deps.random, scimTokenPrefix);
      const scimToken = em.create(ScimToken, {
        id: this.deps.random.id(),
        project: project.id,
        name,
        hash: digest(token),
        hint: token.slice(-4),
        expiresAt,
        createdAt: now,
      });
      em.persist(scimToken);
      this.tell(em, 'scim-token.issued', scimToken, project.id, actor);
      return { token, scimToken };
    });
  }

  /** Takes effect from the next request. Revoking twice changes nothing. Refuses `not-found`. */
  async revokeScimToken(key: TenantKey, actor: Actor): Promise<ScimToken> {
    return this.deps.db.transaction(async (em) => {
      const token = found(isUuid(key.id) ? await em.findOne(ScimToken, atKey(key)) : null, 'scim-token');
      if (token.revokedAt) return token;
      token.revokedAt = this.deps.clock.now();
      this.tell(em, 'scim-token.revoked', token, token.project.id, actor);
      return token;
    });
  }

  /** A token for a self-test, which expires and is not audited. Refuses `not-found`, `forbidden`. */
  async issueTemporary(projectId: string, seconds: number): Promise<TenantKey & { token: string }> {
    return this.deps.db.transaction(async (em) => {
      const project = found(isUuid(projectId) ? await em.findOne(Project, projectId) : null, 'project');
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
   * `Bearer <a live token of this project>`.
   */
  async authenticate(projectId: string, authorization: string | undefined): Promise<Directory> {
    const id = isUuid(projectId) ? projectId.toLowerCase() : noProject;
    openProject(id);
    const [row] = await query(
      this.deps.db.alone,
      sql<{ enabled: boolean; configured: boolean; token_id: string | null; token_name: string }>`
        select p.scim_enabled and p.built_in is distinct from 'console' as enabled,
          exists (select 1 from scim_tokens a where a.project_id = p.id) as configured,
          t.id as token_id, t.name as token_name
        from projects p
        left join scim_tokens t on t.project_id = p.id and t.hash = ${hashOf(authorization)} and t.revoked_at is null
          and (t.expires_at is null or t.expires_at > ${this.deps.clock.now()})
        where p.id = ${id}`,
      { prepare: 'directories.authenticate' },
    );
    if (!row?.enabled) refuse({ code: 'not-found', what: 'project' });
    if (!row.configured) {
      refuse({ code: 'unavailable', reason: 'no SCIM token has been issued', retryAfterSeconds: notSetUpRetrySeconds });
    }
    if (row.token_id === null) refuse({ code: 'unauthenticated' });
    return { projectId: id, tokenId: row.token_id, tokenName: row.token_name };
  }

  private tell(em: EntityManager, type: string, token: ScimToken, projectId: string, actor: Actor): void {
    this.deps.audit.record(em, {
      type,
      actor,
      projectId,
      subject: { kind: 'scim-token', id: token.id, name: token.name },
      detail: { hint: token.hint, expiresAt: token.expiresAt?.toISOString() ?? null },
    });
  }
}

/** SHA-256 of the token in `Bearer <token>`; of the empty string if there is none. */
function hashOf(authorization: string | undefined): string {
  return digest(/^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '');
}
