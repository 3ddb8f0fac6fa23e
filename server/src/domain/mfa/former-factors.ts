import type { EntityManager } from '@mikro-orm/postgresql';
import type { Random } from '../kernel/random.ts';
import type { Vault } from '../keys/vault.ts';
import { Enrolment } from './enrolment.entity.ts';

/** Joins: TOTP factors of new users, with the secrets that their authenticator apps have. */
export function addFormerTotp(
  em: EntityManager,
  { now, random, vault }: { now: Date; random: Random; vault: Vault },
  projectId: string,
  factors: readonly { userId: string; secret: string }[],
): void {
  for (const { secret, userId } of factors) {
    const id = random.id();
    const sealedSecret = vault.seal('totp', id, secret);
    const row = { id, project: projectId, user: [projectId, userId] as [string, string], method: 'totp' as const };
    em.persist(em.create(Enrolment, { ...row, sealedSecret, createdAt: now, verifiedAt: now }));
  }
}
