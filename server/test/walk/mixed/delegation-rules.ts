import { describeChange } from '../changes.ts';
import { Restorable } from '../checkpoint.ts';
import { demand, toleranceMs } from '../model.ts';
import { type Done, isOwn, type Site } from './draft.ts';
import { type Party, partyNamed } from './party.ts';

const changeMs = 10 * 60_000;

/** Tables that only the user changes, in a browser. */
const ofUser = /^(sessions|authorization_codes|refresh_grants|credentials|consents)$/;

/**
 * A back end, with its own keys, changes the second factor of a user of its project that it names: by the code of a change
 * that it began for them, once, before the change expires. The former factors and the open work of the user end. The back
 * end begins no session, and gets no code or token of the user. Each request is accepted once.
 */
export class DelegationRules extends Restorable {
  private readonly finished = new Set<string>();

  constructor(
    private readonly site: Site,
    private readonly parties: readonly Party[],
  ) {
    super();
  }

  /** @param done accepted */
  check({ changes, fields }: Done): void {
    const { '@op': op, '@back-end': backEnd, '@api-key': key, userid } = fields;
    if (op === undefined) return;
    const what = `${op} of a back end`;
    demand(fields['@again'] === undefined, `${what} was accepted twice`);
    demand(isOwn(this.site, backEnd), `${what} was accepted for a user of another project`);
    demand(key === backEnd, `${what} was accepted with the key of another application`);
    const named = partyNamed(this.parties, userid);
    demand(named, `${what} was accepted for an unknown user`);
    const gained = changes.find(({ op: how, table }) => how === 'INSERT' && ofUser.test(table));
    demand(!gained, `${what} made an unexpected ${gained && describeChange(gained)}`);
    const factor = changes.find(({ new: row, table }) => table === 'enrolments' && row?.['verified_at'] != null);
    demand(!factor || op === 'verifyMfaChange', `${what} verified a factor`);
    if (op === 'verifyMfaChange') this.verified({ changes, fields }, named, what);
  }

  private verified({ changes, fields }: Pick<Done, 'changes' | 'fields'>, named: Party, what: string): void {
    const { values, world } = this.site;
    const { session_id: id = '' } = fields;
    const change = values.of('change', id);
    demand(change, `${what} was accepted without a change`);
    demand(change.with['back-end'] === fields['@back-end'], `${what} was accepted for a change of another application`);
    demand(change.with['user'] === named.user, `${what} was accepted for a change of another user`);
    demand(world.now() - Number(change.with['at']) < changeMs + toleranceMs, `${what} was accepted after its expiry`);
    demand(!this.finished.has(id), `${what} was accepted twice`);
    const code = values.of('change-code', fields['otp']);
    demand(code?.with['change'] === id, `${what} was accepted with a code of another factor`);
    this.finished.add(id);
    const removed = changes.flatMap(({ op, table, old }) =>
      table === 'enrolments' && op === 'DELETE' ? [old?.['id']] : [],
    );
    const kept = world.model.factorsOf(named.user).some((factor) => !removed.includes(factor.id));
    demand(!kept, `${what} kept a former factor`);
    named.endedStep = world.model.step;
  }
}
