import { type Change, changedColumns } from '../changes.ts';
import { Restorable } from '../checkpoint.ts';
import { demand } from '../model.ts';
import type { Done, Site } from './draft.ts';
import type { Party } from './party.ts';

/**
 * A session of a user begins only in a sign-in in which they proved themself: by a code that their mailbox received for this
 * sign-in, by their passkey, or by a key that an earlier one of their sign-ins registered. It begins after the last time
 * that their open sign-ins were ended.
 */
export class SessionRules extends Restorable {
  /** By the sign-in that they proved themself in. */
  private readonly proved = new Map<string, Proved>();
  /** By the key that they registered. */
  private readonly registered = new Map<string, Proved>();

  constructor(private readonly site: Site) {
    super();
  }

  /** @param done accepted */
  check(done: Done): void {
    const { changes, name, party, fields } = done;
    const { txn = '' } = fields;
    const proved = this.provedBy(done) ?? this.proved.get(txn);
    if (proved !== undefined) this.proved.set(txn, proved);
    const key = this.site.values.of('txn', txn)?.with['key'];
    if (name === 'verify-device' && key !== undefined && proved !== undefined) this.registered.set(key, proved);
    for (const change of changes) {
      if (change.table !== 'sessions' || (change.op !== 'INSERT' && !isRenewed(change))) continue;
      const what = `${name} of ${party.name} began a session`;
      const user = change.new?.['user_id'];
      const isProved = proved?.user === user || proved?.by.admins.has(user);
      demand(proved && isProved, `${what} of a user who did not prove themself`);
      const isOpen = proved.user !== user || proved.step > proved.by.endedStep;
      demand(isOpen, `${what} in a sign-in that was ended`);
    }
  }

  private provedBy({ name, fields, reply }: Done): Proved | undefined {
    const { values, world } = this.site;
    const { step } = world.model;
    const { txn } = fields;
    if (name === 'authenticate') {
      const known = this.registered.get(values.of('txn', txn)?.with['key'] ?? '');
      return known && reply.json['status'] !== 'OTP_NEEDED' ? { ...known, step } : undefined;
    }
    const proof =
      name === 'verify-email-otp'
        ? values.of('otp', fields['otp'])
        : name === 'verify-passkey'
          ? values.of('credential', fields['credential'])
          : undefined;
    return proof?.with['txn'] === txn && proof ? { by: proof.of, user: proof.of.user, step } : undefined;
  }
}

interface Proved {
  by: Party;
  /** Their user in the project at that time. */
  user: string;
  step: number;
}

/** A sign-in that continues a session gives it a new cookie. */
export function isRenewed(change: Change): boolean {
  return changedColumns(change).includes('secret_hash');
}
