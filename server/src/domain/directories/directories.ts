import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import { Cache } from '../kernel/cache.ts';
import { type Clock, isPast, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { cleanName } from '../kernel/name.ts';
import { found, refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { execute, query, type Sql, sql } from '../kernel/statement.ts';
import { Project } from '../projects/project.entity.ts';
import { ScimToken } from './scim-token.entity.ts';

export interface ScimTokenInput {
  projectId: string;
  name: string;
  /** Absent: it does not expire. */
  expiresAt?: Date | null | undefined;
}

/** Who a directory is, once its token has been checked. */
export interface Directory {
  projectId: string;
  tokenId: string;
  tokenName: string;
  /** How many of the project's users had been erased by then. */
  erasures: number;
}

/** Secret scanners know SCIM tokens by this. */
export const scimTokenPrefix = 'lk_scim_';
/** How long a process that has heard of nothing takes a token for what it was. */
const rememberSeconds = 5;
const mostRemembered = 1000;
const notSetUpRetrySeconds = 60;
const noProject = '00000000-0000-0000-0000-000000000000';

/** The directories of a project: their tokens, of which several may live side by side while one is rotated. */
export class Directories {
  private readonly db: Database;
  private readonly clock: Clock;
  private readonly random: Random;
  private readonly audit: Audit;
  private readonly remembered: Cache<Directory>;

  constructor(db: Database, clock: Clock, random: Random, audit: Audit) {
    this.remembered = new Cache(clock, rememberSeconds, mostRemembered);
    this.db = db;
    this.clock = clock;
    this.random = random;
    this.audit = audit;
  }

  /** A new token, readable this once. Refuses `not-found` (project), `invalid`. */
  async issueScimToken(input: ScimTokenInput, actor: Actor): Promise<{ token: string; scimToken: ScimToken }> {
    const name = cleanName(input.name);
    const now = this.clock.now();
    const expiresAt = input.expiresAt ?? null;
    if (expiresAt && (Number.isNaN(expiresAt.getTime()) || isPast(expiresAt, now))) {
      refuse({ code: 'invalid', field: 'expiresAt', reason: 'must be in the future' });
    }
    return this.db.transaction(async (em) => {
      const project = found(isUuid(input.projectId) ? await em.findOne(Project, input.projectId) : null, 'project');
      if (project.builtIn === 'console') {
        refuse({ code: 'forbidden', reason: 'no directory may manage the admins of this instance' });
      }
      const token = newSecret(this.random, scimTokenPrefix);
      const scimToken = em.create(ScimToken, {
        id: this.random.id(),
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

  /** Refused from the next request on. Revoking twice changes nothing. Refuses `not-found`. */
  async revokeScimToken(id: string, actor: Actor, projectId?: string): Promise<ScimToken> {
    return this.db.transaction(async (em) => {
      const where = projectId === undefined ? { id } : { id, project: projectId };
      const token = found(isUuid(id) ? await em.findOne(ScimToken, where) : null, 'scim-token');
      if (token.revokedAt) return token;
      token.revokedAt = this.clock.now();
      this.tell(em, 'scim-token.revoked', token, token.project.id, actor);
      return token;
    });
  }

  /** A token for a test, which ends by itself and is told of by whoever runs it. Refuses `not-found`, `forbidden`. */
  async issueTemporary(projectId: string, seconds: number): Promise<{ id: string; token: string }> {
    return this.db.transaction(async (em) => {
      const project = found(isUuid(projectId) ? await em.findOne(Project, projectId) : null, 'project');
      if (project.builtIn === 'console') {
        refuse({ code: 'forbidden', reason: 'no directory may manage the admins of this instance' });
      }
      const token = newSecret(this.random, scimTokenPrefix);
      const now = this.clock.now();
      const id = this.random.id();
      em.persist(
        em.create(ScimToken, {
          ...{ id, project: project.id, name: 'Self-test', hash: digest(token), hint: token.slice(-4) },
          ...{ expiresAt: secondsLater(now, seconds), createdAt: now },
        }),
      );
      return { id, token };
    });
  }

  /** Leaves nothing of it. */
  async removeTemporary(id: string): Promise<void> {
    await execute(this.db.alone, sql`delete from scim_tokens where id = ${id}`);
  }

  /** Newest first, revoked ones too. */
  async scimTokens(projectId: string): Promise<ScimToken[]> {
    return this.db.reader().find(ScimToken, { project: projectId }, { orderBy: { id: 'desc' } });
  }

  /**
   * Whose request it is. In this order, at one cost whatever exists: `not-found` where the project does not exist or
   * has SCIM off, `unavailable` where no token was ever issued, `unauthenticated` for a header that is not
   * `Bearer <a live token of this project>`.
   */
  async authenticate(projectId: string, authorization: string | undefined): Promise<Directory> {
    const id = isUuid(projectId) ? projectId : noProject;
    const [row] = await query<{
      enabled: boolean;
      configured: boolean;
      token_id: string | null;
      token_name: string;
      erasures: number;
    }>(
      this.db.alone,
      sql`select p.scim_enabled and p.built_in is distinct from 'console' as enabled,
                 exists (select 1 from scim_tokens a where a.project_id = p.id) as configured,
                 t.id as token_id, t.name as token_name, p.erasures
          from projects p
          left join scim_tokens t on t.hash = ${hashOf(authorization)} and t.project_id = p.id and t.revoked_at is null
            and (t.expires_at is null or t.expires_at > ${this.clock.now()})
          where p.id = ${id}`,
    );
    if (!row?.enabled) refuse({ code: 'not-found', what: 'project' });
    if (!row.configured) {
      refuse({ code: 'unavailable', reason: 'no SCIM token was ever issued', retryAfterSeconds: notSetUpRetrySeconds });
    }
    if (row.token_id === null) refuse({ code: 'unauthenticated' });
    const { token_id: tokenId, token_name: tokenName, erasures } = row;
    return { projectId: id.toLowerCase(), tokenId, tokenName, erasures };
  }

  /**
   * As {@link authenticate}, perhaps from memory: then with `grant`, a condition that holds while the token is live, for
   * the statement that does the work (decisions/0080). Where that finds nothing, {@link authenticate} has the word.
   */
  async recall(projectId: string, authorization: string | undefined): Promise<{ directory: Directory; grant?: Sql }> {
    let read: Directory | undefined;
    const hash = hashOf(authorization);
    const directory = await this.remembered.get(`${projectId} ${hash}`, async () => {
      read = await this.authenticate(projectId, authorization);
      return read;
    });
    if (read || !directory) return { directory: read ?? (await this.authenticate(projectId, authorization)) };
    // By the token that was sent, not by the one that is remembered: the memory may choose, and cannot grant.
    const grant = sql`exists (select from scim_tokens t join projects p on p.id = t.project_id
      where t.hash = ${hash} and p.id = ${directory.projectId}::uuid and t.revoked_at is null
        and (t.expires_at is null or t.expires_at > ${this.clock.now()}::timestamptz)
        and p.scim_enabled and p.built_in is distinct from 'console')`;
    return { directory, grant };
  }

  /** Users were erased: what comes next is to know of it. */
  forget(): void {
    this.remembered.invalidate();
  }

  private tell(em: EntityManager, type: string, token: ScimToken, projectId: string, actor: Actor): void {
    this.audit.record(em, {
      type,
      actor,
      projectId,
      subject: { kind: 'scim-token', id: token.id, name: token.name },
      detail: { hint: token.hint, expiresAt: token.expiresAt?.toISOString() ?? null },
    });
  }
}

/** SHA-256 of the token in `Bearer <token>`; of nothing where there is none. */
function hashOf(authorization: string | undefined): string {
  return digest(/^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '');
}
