import { Restorable } from '../checkpoint.ts';
import { demand, toleranceMs } from '../model.ts';
import type { Done, Site } from './draft.ts';

const usableMs = 24 * 3_600_000;

/**
 * An admin's recovery code works once, for its user only, after the waiting time, for a day, until another one replaces it or
 * it ends.
 */
export class RecoveryRules extends Restorable {
  /** The open code of each user, with the end of its waiting time. */
  private readonly open = new Map<string, { code: string; usableAt: number }>();

  constructor(private readonly site: Site) {
    super();
  }

  /** Cancelled, or ended with other access of the user. */
  ended(user: string): void {
    this.open.delete(user);
  }

  granted(user: string, code: string, usableAt: number): void {
    this.open.set(user, { code, usableAt });
  }

  /** @param done accepted */
  check({ changes, name, party, fields, reply }: Done): void {
    const isCancelled = name === 'account' && fields['change'] === 'cancel-recovery';
    if (isCancelled && reply.location?.search.includes('saved')) this.ended(party.user);
    const code = fields['otp'] ?? '';
    const used = changes.find(({ new: row, table }) => table === 'recovery_grants' && row?.['used_at'] != null)?.new;
    const isCode = name === 'verify-mfa' && this.site.values.of('recovery', code) !== undefined;
    if (!used && !isCode) return;
    const what = `${name} of ${party.name} was accepted by a recovery code`;
    const grant = this.open.get(party.user);
    demand(used?.['user_id'] === party.user && isCode, `${what} of another user`);
    demand(grant?.code === code, `${what} that was used or ended`);
    const { now } = this.site.world.model;
    demand(now > grant.usableAt - toleranceMs, `${what} before its waiting time was over`);
    demand(now < grant.usableAt + usableMs + toleranceMs, `${what} after its expiry`);
    this.open.delete(party.user);
  }
}
