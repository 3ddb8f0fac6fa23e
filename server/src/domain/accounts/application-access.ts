import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { Client } from '../clients/client.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { isUuid } from '../kernel/secret.ts';
import type { RefreshGrants } from '../tokens/refresh-grants.ts';
import { endAccess } from '../tokens/user-tables.ts';
import type { User } from '../users/user.entity.ts';

/** An application that can renew its access to an account. */
export interface ApplicationAccess {
  clientId: string;
  name: string;
  /** What it may read, without duplicates. */
  scopes: string[];
  since: Date;
  lastUsedAt: Date;
  /** Whether it outlives the session. */
  isLasting: boolean;
}

export interface ApplicationAccessDeps {
  clock: Clock;
  audit: Audit;
  refreshGrants: Pick<RefreshGrants, 'list'>;
}

/** More than a person has applications; the newest grants count. */
const maxGrants = 500;

/** The applications with access to the user's account, last used first. */
export async function applicationsOf(
  { refreshGrants }: Pick<ApplicationAccessDeps, 'refreshGrants'>,
  em: EntityManager,
  user: User,
): Promise<ApplicationAccess[]> {
  const owner = { projectId: user.project.id, userId: user.id };
  const { items } = await refreshGrants.list(em, owner, { first: maxGrants, after: null });
  const byClient = Map.groupBy(items, ({ clientId }) => clientId);
  const clients = await em.find(Client, { project: user.project.id, id: { $in: [...byClient.keys()] } });
  const shown = clients.map(({ id, name }): ApplicationAccess => {
    const grants = byClient.get(id) ?? [];
    return {
      clientId: id,
      name,
      scopes: [...new Set(grants.flatMap(({ scope }) => scope.split(' ')))],
      since: new Date(Math.min(...grants.map(({ createdAt }) => createdAt.getTime()))),
      lastUsedAt: new Date(Math.max(...grants.map(({ lastUsedAt }) => lastUsedAt.getTime()))),
      isLasting: grants.some(({ offline }) => offline),
    };
  });
  return shown.sort((a, b) => b.lastUsedAt.getTime() - a.lastUsedAt.getTime());
}

/** Ends what an application may do for the user: its refresh grants, codes and access tokens. Joins the transaction. */
export async function removeAccess(
  { audit, clock }: Pick<ApplicationAccessDeps, 'audit' | 'clock'>,
  em: EntityManager,
  user: User,
  clientId: string,
  actor: Actor,
): Promise<void> {
  if (!isUuid(clientId)) return;
  const grants = await endAccess(em, user, clientId, clock.now());
  if (grants === 0) return;
  const subject = { kind: 'user', id: user.id, name: user.userName };
  audit.record(em, {
    type: 'access.removed',
    actor,
    projectId: user.project.id,
    clientId,
    subject,
    detail: { grants },
  });
}
