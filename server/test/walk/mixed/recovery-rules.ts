import { Restorable } from '../checkpoint.ts';
import { demand, toleranceMs } from '../model.ts';
import type { Done, Site } from './draft.ts';

/** An admin's recovery code works once, for its user only, after the waiting time, until another one replaces it. */
export class RecoveryRules extends Restorable {
  /** The open code of each user, with the end of its waiting time. */
  private readonly open = new Map<string, { code: string; usableAt: number }>();

  constructor(private readonly site: Site) {
    super();
  }

  granted(user: string, code: string, usableAt: number): void {
    this.open.set(user, { code, usableAt });
  }

  /** @param done accepted */
  check({ changes, name, party, fields }: Done): void {
    const code = fields['otp'] ?? '';
    const used = changes.find(({ new: row, table }) => table === 'recovery_grants' && row?.['used_at'] != null)?.new;
    const isCode = name === 'verify-mfa' && this.site.values.of('recovery', code) !== undefined;
    if (!used && !isCode) return;
    const what = `${name} of ${party.name} was accepted by a recovery code`;
    const grant = this.open.get(party.user);
    demand(used?.['user_id'] === party.user && isCode, `${what} of another user`);
    demand(grant?.code === code, `${what} that was used or replaced`);
    demand(this.site.world.model.now > grant.usableAt - toleranceMs, `${what} before its waiting time was over`);
    this.open.delete(party.user);
  }
}
