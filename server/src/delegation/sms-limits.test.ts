import { MfaMethod } from '@latchkey/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DelegationWorld, openDelegation } from '../../test/back-end.ts';
import { rows } from '../../test/rows.ts';

let world: DelegationWorld;

beforeEach(async () => {
  world = await openDelegation();
});
afterEach(() => world.close());

/** Row counts of the tables that a factor change writes to. */
async function begun(): Promise<unknown> {
  const counts = ['enrolments', 'one_time_codes', 'messages', 'factor_changes'].map(
    (table) => `(select count(*)::int from ${table}) as ${table}`,
  );
  return (await rows(world.app.services.db, `select ${counts.join(', ')}`))[0];
}

async function initiate(phoneNumber: string): Promise<{ code?: string | undefined; retry_after?: number | undefined }> {
  const library = await world.backEnd.delegationClient();
  const { id } = await world.app.make.user(world.project);
  return library.initiateMfaChange({ userid: id, mfaMethod: MfaMethod.SMS, phoneNumber });
}

describe('a back end', () => {
  it.each(['+8816234567890', '+33899123456', '+41440000000'])(
    'sends no SMS to %s and starts no change',
    async (number) => {
      const before = await begun();
      expect(await initiate(number)).toMatchObject({ status: 'failed', code: 'PHONE_NOT_ALLOWED' });
      expect(await begun()).toEqual(before);
    },
  );

  it('can send five SMS an hour to one number, for any users', async () => {
    for (let n = 0; n < 5; n++) expect(await initiate('+4915112345675')).toMatchObject({ status: 'success' });
    const before = await begun();
    const refused = await initiate('+4915112345675');
    expect(refused).toMatchObject({ status: 'failed', code: 'RATE_LIMITED' });
    expect(refused.retry_after).toBeGreaterThan(3000);
    expect(await begun()).toEqual(before);
  });
});
