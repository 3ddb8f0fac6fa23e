import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { Client } from '../clients/client.entity.ts';
import type { Consents } from '../consents/consents.ts';
import { withdrawConsent } from '../consents/user-tables.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { isUuid } from '../kernel/secret.ts';
import type { RefreshGrants } from '../tokens/refresh-grants.ts';
import { endTokens } from '../tokens/user-tables.ts';
import type { User } from '../users/user.entity.ts';

/** An application that may have access to an account without asking again. */
export interface ApplicationAccess {
  clientId: string;
  name: string;
  /** Scopes that it may read, without duplicates. */
  scopes: string[];
  since: Date;
  /** Null: it has no refresh token. */
  lastUsedAt: Date | null;
  /** Whether it ends with the session. */
  endsWithSession: boolean;
}

export interface ApplicationAccessDeps {
  clock: Clock;
  audit: Audit;
  refreshGrants: Pick<RefreshGrants, 'list'>;
  consents: Pick<Consents, 'list'>;
}

/** More applications than one person has; beyond it, only the newest grants are read. */
const maxGrants = 500;

/** The applications that the user has allowed, or that can renew their access; last used first. */
export async function applicationsOf(
  { consents, refreshGrants }: Pick<ApplicationAccessDeps, 'consents' | 'refreshGrants'>,
  em: EntityManager,
  user: User,
): Promise<ApplicationAccess[]> {
  const owner = { projectId: user.project.id, userId: user.id };
  const { items } = await refreshGrants.list(em, owner, { first: maxGrants, after: null });
  const byClient = Map.groupBy(items, ({ clientId }) => clientId);
  const given = new Map((await consents.list(em, user)).map((consent) => [consent.clientId, consent]));
  const ids = [...new Set([...byClient.keys(), ...given.keys()])];
  const clients = await em.find(Client, { project: user.project.id, id: { $in: ids } });
  const shown = clients.map(({ id, name }): ApplicationAccess => {
    const grants = byClient.get(id) ?? [];
    const consent = given.get(id);
    const times = [...grants.map(({ createdAt }) => createdAt), ...(consent ? [consent.createdAt] : [])];
    return {
      clientId: id,
      name,
      scopes: [...new Set([...grants.flatMap(({ scope }) => scope.split(' ')), ...(consent?.scopes ?? [])])],
      since: new Date(Math.min(...times.map((at) => at.getTime()))),
      lastUsedAt:
        grants.length > 0 ? new Date(Math.max(...grants.map(({ lastUsedAt }) => lastUsedAt.getTime()))) : null,
      endsWithSession: !consent && !grants.some(({ offline }) => offline),
    };
  });
  const lastAt = ({ lastUsedAt, since }: ApplicationAccess) => (lastUsedAt ?? since).getTime();
  return shown.sort((a, b) => lastAt(b) - lastAt(a));
}

/**
 * Ends an application's access to the user: the consent, its refresh grants, codes and access tokens. Joins the
 * transaction.
 */
export async function removeAccess(
  { audit, clock }: Pick<ApplicationAccessDeps, 'audit' | 'clock'>,
  em: EntityManager,
  user: User,
  clientId: string,
  actor: Actor,
): Promise<void> {
  if (!isUuid(clientId)) return;
  const consent = await withdrawConsent(em, user, clientId);
  const grants = await endTokens(em, user, clock.now(), { clientId });
  if (grants === 0 && !consent) return;
  const subject = { kind: 'user', id: user.id, name: user.userName };
  audit.record(em, {
    type: 'access.removed',
    actor,
    projectId: user.project.id,
    clientId,
    subject,
    detail: { grants, consent },
  });
}
