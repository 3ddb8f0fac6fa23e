import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../../audit/audit.ts';
import type { EventType } from '../../audit/event-types.ts';
import type { Actor } from '../../kernel/actor.ts';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { cleanName } from '../../kernel/name.ts';
import { refuse } from '../../kernel/problem.ts';
import { newSecret, type Random } from '../../kernel/random.ts';
import { checkNumber } from '../../kernel/resource.ts';
import { digest } from '../../kernel/secret.ts';
import { execute, sql } from '../../kernel/sql.ts';
import { Project } from '../../projects/project.entity.ts';
import { existing, locked, type TenantKey } from '../../projects/tenant.ts';
import { RegistrationToken } from './registration-token.entity.ts';

const prefix = 'lk_ia_';
const maxTokens = 50;
const days = { preset: 30, bounds: [1, 365] } as const;
const day = 24 * 3600;

/** Records a use of the token. False if it is unknown, expired or revoked. */
export async function useRegistrationToken(
  em: EntityManager,
  projectId: string,
  token: string,
  now: Date,
): Promise<boolean> {
  const used = await execute(
    em,
    sql`update registration_tokens set last_used_at = ${now}::timestamptz where project_id = ${projectId}::uuid
      and hash = ${digest(token)} and revoked_at is null and expires_at > ${now}::timestamptz`,
  );
  return used === 1;
}

/** Initial access tokens of a project, for as many registrations as its limits allow. */
export class RegistrationTokens {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit }) {}

  /** Newest first, without revoked ones. */
  list(em: EntityManager, projectId: string): Promise<RegistrationToken[]> {
    return em.find(RegistrationToken, { project: projectId, revokedAt: null }, { orderBy: { id: 'desc' } });
  }

  /** @returns `lk_ia_…`, shown once. Refuses `not-found`, `invalid`. */
  issue(
    projectId: string,
    input: { name: string; days?: number | undefined },
    actor: Actor,
  ): Promise<{ registrationToken: RegistrationToken; token: string }> {
    const { db, clock, random } = this.deps;
    const name = cleanName(input.name);
    const lifetime = input.days ?? days.preset;
    checkNumber('days', lifetime, days.bounds, 'days');
    return db.transaction(async (em) => {
      const project = await existing(em, Project, projectId, 'project');
      if ((await em.count(RegistrationToken, { project: projectId, revokedAt: null })) >= maxTokens) {
        refuse({ code: 'invalid', field: 'projectId', reason: `already has ${maxTokens} tokens: revoke one first` });
      }
      const token = newSecret(random, prefix);
      const now = clock.now();
      const registrationToken = em.create(RegistrationToken, {
        ...{ project: project.id, id: random.id(), name, hash: digest(token), hint: token.slice(-4), createdAt: now },
        ...{ expiresAt: secondsLater(now, lifetime * day), lastUsedAt: null, revokedAt: null },
      });
      em.persist(registrationToken);
      this.record(em, 'registration-token.issued', registrationToken, actor);
      return { registrationToken, token };
    });
  }

  /** Clients that registered with it stay. Refuses `not-found`. */
  revoke(key: TenantKey, actor: Actor): Promise<RegistrationToken> {
    return this.deps.db.transaction(async (em) => {
      const token = await existing(em, RegistrationToken, key, 'registration-token', locked);
      if (token.revokedAt) return token;
      token.revokedAt = this.deps.clock.now();
      this.record(em, 'registration-token.revoked', token, actor);
      return token;
    });
  }

  private record(em: EntityManager, type: EventType, { project, id, name }: RegistrationToken, actor: Actor): void {
    const subject = { kind: 'registration-token', id, name };
    this.deps.audit.record(em, { type, actor, projectId: project.id, subject });
  }
}
