import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { digest } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';

/** Lifetime of a key. */
const idempotencySeconds = 24 * 3600;

/** Purpose of the sealed answers. */
const answerPurpose = 'idempotent-answer';

/** Identifies a request of one caller. */
export interface IdempotencyKey {
  /** Unique among callers. */
  caller: string;
  key: string;
  /** The request as text; a retry has the same. */
  request: string;
}

/**
 * `new`: the caller runs the request, and settles it by `id`. `answered`: it has run before. `unknown`: it is running, or
 * its outcome was never stored. `other`: the key belongs to another request.
 */
export type Claim =
  | { state: 'new'; id: string }
  | { state: 'answered'; answer: string }
  | { state: 'unknown' }
  | { state: 'other' };

const idOf = ({ caller, key }: Pick<IdempotencyKey, 'caller' | 'key'>) => digest(`${caller}\0${key}`);

/** Mutations that take effect once, however often they are sent (decisions/0349). */
export class IdempotentRequests {
  constructor(private readonly deps: { db: Database; clock: Clock; vault: Vault }) {}

  /** One statement: of equal requests at the same time, one gets `new`. A key is free again after {@link idempotencySeconds}. */
  async claim({ caller, key, request }: IdempotencyKey): Promise<Claim> {
    const { db, clock, vault } = this.deps;
    const id = idOf({ caller, key });
    const now = clock.now();
    const mac = vault.mac(answerPurpose, id, request);
    const claimed = await execute(
      db.alone,
      sql`insert into idempotent_requests (id, request_mac, created_at) values (${id}, ${mac}, ${now})
        on conflict (id) do update set request_mac = excluded.request_mac, sealed_answer = null, created_at = excluded.created_at
          where idempotent_requests.created_at <= ${secondsLater(now, -idempotencySeconds)}`,
    );
    return claimed === 1 ? { state: 'new', id } : this.earlier(id, request);
  }

  /** The stored answer of an equal request; undefined: none. Claims nothing. */
  async answer({ caller, key, request }: IdempotencyKey): Promise<string | undefined> {
    const earlier = await this.earlier(idOf({ caller, key }), request);
    return earlier.state === 'answered' ? earlier.answer : undefined;
  }

  private async earlier(id: string, request: string): Promise<Exclude<Claim, { state: 'new' }>> {
    const { db, clock, vault } = this.deps;
    const [row] = await query(
      db.alone,
      sql<{ mac: string; sealed: Buffer | null }>`
        select request_mac as mac, sealed_answer as sealed from idempotent_requests
        where id = ${id} and created_at > ${secondsLater(clock.now(), -idempotencySeconds)}`,
    );
    // The request was refused in the meantime: a retry may run it.
    if (!row) return { state: 'unknown' };
    if (!vault.matches(answerPurpose, id, request, row.mac)) return { state: 'other' };
    if (row.sealed === null) return { state: 'unknown' };
    return { state: 'answered', answer: vault.open(answerPurpose, id, row.sealed).toString() };
  }

  /** Stores the answer of a claimed request. */
  async settle(id: string, answer: string): Promise<void> {
    const { db, vault } = this.deps;
    const sealed = vault.seal(answerPurpose, id, answer);
    await execute(db.alone, sql`update idempotent_requests set sealed_answer = ${sealed} where id = ${id}`);
  }

  /** Frees the key of a claimed request that was refused and changed nothing. */
  async release(id: string): Promise<void> {
    await execute(this.deps.db.alone, sql`delete from idempotent_requests where id = ${id}`);
  }
}
