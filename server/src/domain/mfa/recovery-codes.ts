import type { EntityManager } from '@mikro-orm/postgresql';
import type { Clock } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { RetiredMacKey } from '../keys/retired-mac-key.entity.ts';
import { keyedHash, type Vault } from '../keys/vault.ts';
import { typedCode } from '../otp/typed-code.ts';
import type { User } from '../users/user.entity.ts';
import { ofUser } from '../users/user-tables.ts';
import { RecoveryCode } from './recovery-code.entity.ts';

/** Purpose of the keyed hashes, which stay valid when the master key is rotated. */
export const recoveryCodePurpose = 'recovery-code';
const count = 10;
const length = 16;
/** Crockford base32, without look-alike letters: 80 bits per code. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Recovery codes for a lost second factor: ten, single use, shown once. */
export class RecoveryCodes {
  constructor(private readonly deps: { clock: Clock; random: Random; vault: Vault }) {}

  /** Replaces all codes with ten new ones, in groups of four characters. */
  async issue(em: EntityManager, user: User): Promise<string[]> {
    await execute(em, sql`delete from recovery_codes where ${ofUser(user)}`);
    return Array.from({ length: count }, () => {
      const code = newRecoveryCode(this.deps.random);
      em.persist(
        em.create(RecoveryCode, {
          project: user.project,
          id: this.deps.random.id(),
          user,
          hash: this.hash(user.id, normalize(code)),
          createdAt: this.deps.clock.now(),
        }),
      );
      return code;
    });
  }

  /** Number of unused codes. */
  async left(em: EntityManager, user: User): Promise<number> {
    const count = sql<{ left: number }>`
      select count(*)::int as left from recovery_codes where ${ofUser(user)} and used_at is null`;
    const [row] = await query(em, count);
    return row?.left ?? 0;
  }

  /** Redeems a code, in any case, with or without dashes; false if it is unknown or used. */
  async use(em: EntityManager, user: User, typed: string): Promise<boolean> {
    const code = normalize(typed);
    const hashes = await this.hashes(em, user.id, code);
    const use = sql`
      update recovery_codes set used_at = ${this.deps.clock.now()}
      where ${ofUser(user)} and hash = any(${hashes}) and used_at is null`;
    return (await execute(em, use)) === 1;
  }

  /** Possible stored hashes, one per master key, including rotated ones. */
  private async hashes(em: EntityManager, userId: string, code: string): Promise<string[]> {
    const retired = await em.find(RetiredMacKey, { purpose: recoveryCodePurpose });
    const keys = retired.map(({ id, sealedKey }) => this.deps.vault.open('mac-key', id, sealedKey));
    return [
      ...this.deps.vault.macs(recoveryCodePurpose, userId, code),
      ...keys.map((key) => keyedHash(key, userId, code)),
    ];
  }

  private hash(userId: string, code: string): string {
    return this.deps.vault.mac(recoveryCodePurpose, userId, code);
  }
}

/** A random code, in groups of four characters. */
export function newRecoveryCode(random: Random): string {
  const code = [...random.bytes(length)].map((byte) => alphabet[byte % 32]).join('');
  return (code.match(/.{4}/g) as string[]).join('-');
}

/** Whether the input has the form of a recovery code. */
export function looksLikeRecoveryCode(typed: string): boolean {
  return normalize(typed).length === length;
}

/** {@link typedCode} in lower case; look-alike letters as digits. */
export function normalize(typed: string): string {
  return typedCode(typed).toLowerCase().replace(/o/g, '0').replace(/[il]/g, '1');
}
