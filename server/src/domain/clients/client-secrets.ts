import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { existing, locked, type TenantKey } from '../projects/tenant.ts';
import { Client } from './client.entity.ts';
import { ClientSecret } from './client-secret.entity.ts';

/** Lets secret scanners recognize client secrets. */
const prefix = 'lk_cs_';
/** One in use and its successor. */
const maxLive = 2;

/** Checks the format, without a lookup. */
export function isClientSecret(text: string): boolean {
  return text.length <= 100 && text.startsWith(prefix);
}

/** A new secret; the only time its text is available. */
export interface IssuedSecret {
  clientSecret: ClientSecret;
  secret: string;
}

/** Secrets of clients; two may be live at once, for rotation without downtime. */
export class ClientSecrets {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit }) {}

  /** The secrets of several clients, newest first, revoked ones included; their client is loaded. */
  of(em: EntityManager, clients: readonly TenantKey[]): Promise<ClientSecret[]> {
    const where = { client: { $in: clients.map(({ project, id }): [string, string] => [project.id, id]) } };
    return em.find(ClientSecret, where, { populate: ['client'], orderBy: { id: 'desc' } }) as Promise<ClientSecret[]>;
  }

  /** Adds a secret; the other stays valid until it is revoked. Refuses `not-found`, `invalid`, `forbidden`. */
  issue(key: TenantKey, actor: Actor): Promise<IssuedSecret> {
    return this.deps.db.transaction(async (em) => {
      const client = await existing(em, Client, key, 'client', locked);
      if (client.builtIn) refuse({ code: 'forbidden', reason: 'built-in clients have no secret' });
      if (client.introducedBy) refuse({ code: 'forbidden', reason: 'it gets its secret when it registers itself' });
      if ((await em.count(ClientSecret, { client, revokedAt: null })) >= maxLive) {
        refuse({ code: 'invalid', field: 'clientId', reason: `already has ${maxLive} secrets: revoke one first` });
      }
      return this.make(em, client, actor);
    });
  }

  /** Joins: a new secret of a client that the caller has locked or created. */
  make(em: EntityManager, client: Client, actor: Actor): IssuedSecret {
    const secret = newSecret(this.deps.random, prefix);
    const clientSecret = em.create(ClientSecret, {
      project: client.project,
      id: this.deps.random.id(),
      client,
      hash: digest(secret),
      hint: secret.slice(-4),
      createdAt: this.deps.clock.now(),
      lastUsedAt: null,
      revokedAt: null,
    });
    em.persist(clientSecret);
    this.record(em, 'client-secret.issued', clientSecret, client, actor);
    return { clientSecret, secret };
  }

  /**
   * Takes effect immediately in all processes, also on the access tokens that it obtained. Revoking twice changes nothing.
   * Refuses `not-found`.
   */
  revoke(key: TenantKey, actor: Actor): Promise<ClientSecret> {
    return this.deps.db.transaction(async (em) => {
      const secret = await existing(em, ClientSecret, key, 'client-secret', locked);
      const client = await secret.client.loadOrFail();
      if (secret.revokedAt) return secret;
      secret.revokedAt = this.deps.clock.now();
      this.record(em, 'client-secret.revoked', secret, client, actor);
      return secret;
    });
  }

  private record(em: EntityManager, type: EventType, secret: ClientSecret, client: Client, actor: Actor): void {
    this.deps.audit.record(em, {
      type,
      actor,
      projectId: client.project.id,
      clientId: client.id,
      subject: { kind: 'client-secret', id: secret.id, name: `…${secret.hint}` },
      detail: { client: client.name },
    });
  }
}
