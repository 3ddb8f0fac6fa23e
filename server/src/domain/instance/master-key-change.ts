import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { system } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database } from '../kernel/database.ts';
import { execute, type Fragment, query, sql } from '../kernel/sql.ts';
import { RetiredMacKey } from '../keys/retired-mac-key.entity.ts';
import type { Vault } from '../keys/vault.ts';
import { nameIdPurpose } from '../logout/saml-logout-requests.ts';
import { recoveryCodePurpose } from '../mfa/recovery-codes.ts';

/** Columns of sealed values, with the purpose of each. A test compares it with the schema. */
export const sealedColumns = [
  { table: 'signing_keys', column: 'sealed_private_key', purpose: 'signing-key' },
  { table: 'saml_keys', column: 'sealed_private_key', purpose: 'saml-key' },
  { table: 'enrolments', column: 'sealed_secret', purpose: 'totp' },
  { table: 'delegation_keys', column: 'sealed_signing_key', purpose: 'delegation-signing-key' },
  { table: 'delegation_keys', column: 'sealed_encryption_key', purpose: 'delegation-encryption-key' },
  { table: 'messages', column: 'sealed_content', purpose: 'message' },
  { table: 'logout_deliveries', column: 'sealed_name_id', purpose: nameIdPurpose },
  { table: 'webhooks', column: 'sealed_secret', purpose: 'webhook-secret' },
  { table: 'webhooks', column: 'sealed_previous_secret', purpose: 'webhook-previous-secret' },
  { table: 'log_streams', column: 'sealed_secret', purpose: 'log-stream-secret' },
  { table: 'connections', column: 'sealed_secret', purpose: 'connection-secret' },
  { table: 'upstream_requests', column: 'sealed_secrets', purpose: 'upstream-request' },
  { table: 'upstream_requests', column: 'sealed_answer', purpose: 'upstream-answer' },
  { table: 'idempotent_requests', column: 'sealed_answer', purpose: 'idempotent-answer' },
  { table: 'retired_mac_keys', column: 'sealed_key', purpose: 'mac-key' },
] as const;

/** Key of the advisory lock: one process at a time changes the master key. */
const changeLock = 7_316_904_555;
const batchSize = 500;

/** Reseals values of the vault's second key under the first. */
export class MasterKeyChange {
  constructor(private readonly deps: { db: Database; clock: Clock; vault: Vault; audit: Audit }) {}

  /**
   * Runs in one transaction and can be repeated: values under the first key stay unchanged, and a later run finds rows
   * that processes sealed meanwhile under the other key. Throws `VaultError` if a value is under neither key.
   *
   * @param interrupted aborting it rolls back; its reason is thrown
   * @returns the number of resealed values
   */
  reseal(interrupted: AbortSignal): Promise<number> {
    return this.deps.db.transaction(async (em) => {
      await query(em, sql`select pg_advisory_xact_lock(${changeLock})`);
      await this.retireMacKeys(em);
      await em.flush();
      let count = 0;
      for (const place of sealedColumns) count += await this.resealColumn(em, place, interrupted);
      if (count > 0) {
        const subject = { kind: 'master-key', id: this.deps.vault.name };
        this.deps.audit.record(em, { type: 'master-key.changed', actor: system, subject, detail: { resealed: count } });
      }
      return count;
    });
  }

  /** The number of values under a different key than the first. */
  async left(): Promise<number> {
    const em = this.deps.db.reader();
    let count = 0;
    for (const { table, column } of sealedColumns) {
      const [row] = await query(
        em,
        sql<{ count: number }>`
          select count(*)::int as count from ${sql.table(table)} where ${this.isSealedOtherwise(column)}`,
      );
      count += row?.count ?? 0;
    }
    return count;
  }

  /** Keeps the keys of recovery codes: these are keyed hashes and cannot be recomputed. */
  private async retireMacKeys(em: EntityManager): Promise<void> {
    const [row] = await query(em, sql<{ any: boolean }>`select exists(select 1 from recovery_codes) as any`);
    if (!row?.any) return;
    for (const { masterKey, key } of this.deps.vault.macKeys(recoveryCodePurpose).slice(1)) {
      const id = `${masterKey}:${recoveryCodePurpose}`;
      if (await em.count(RetiredMacKey, { id })) continue;
      const sealedKey = this.deps.vault.seal('mac-key', id, key);
      em.persist(
        em.create(RetiredMacKey, { id, purpose: recoveryCodePurpose, sealedKey, createdAt: this.deps.clock.now() }),
      );
    }
  }

  /** True for values under a different key than the first; null for none. */
  private isSealedOtherwise(column: string): Fragment {
    return sql`substring(${sql.ref(column)} from 2 for 4) <> ${Buffer.from(this.deps.vault.name, 'hex')}`;
  }

  private async resealColumn(
    em: EntityManager,
    { table, column, purpose }: (typeof sealedColumns)[number],
    interrupted: AbortSignal,
  ): Promise<number> {
    let count = 0;
    while (true) {
      interrupted.throwIfAborted();
      // Resealed rows are no longer found.
      const found = await query(
        em,
        sql<{ id: string; sealed: Buffer }>`
          select id::text as id, ${sql.ref(column)} as sealed from ${sql.table(table)}
          where ${this.isSealedOtherwise(column)} limit ${batchSize} for update`,
      );
      for (const { id, sealed } of found) {
        const resealed = this.deps.vault.seal(purpose, id, this.deps.vault.open(purpose, id, sealed));
        await execute(em, sql`update ${sql.table(table)} set ${sql.ref(column)} = ${resealed} where id = ${id}`);
      }
      count += found.length;
      if (found.length < batchSize) return count;
    }
  }
}
