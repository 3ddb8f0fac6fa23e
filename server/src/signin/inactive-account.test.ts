/** A deactivated user on a browser whose device key the deactivation suspended. */
import { beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import { newDeviceKey, type ProofOptions, type SigninPage, type StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { type Actor, system } from '../domain/kernel/actor.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
let page: SigninPage;
let user: User;
let userid: string;

beforeEach(async () => {
  page = await world.page();
  userid = newAddress();
  user = await world.trusted(page, userid);
  await setActive(false);
  await world.app.runJobs();
});

const directory: Actor = { kind: 'scim', id: '00000000-0000-7000-8000-000000000001', name: 'Okta' };

function setActive(active: boolean): Promise<unknown> {
  return world.app.services.accounts.setActive(world.project.id, user.id, active, directory);
}

async function asks(on: SigninPage, proof?: ProofOptions | 'use', as = userid): Promise<StepAnswer> {
  await on.challenge();
  return on.step('authenticate', { userid: as }, proof);
}

/** A response without its random values. */
function shape({ httpStatus, text }: StepAnswer) {
  const { device_token: token, nonce, sent_to: to, ...rest } = JSON.parse(text) as Record<string, unknown>;
  return { httpStatus, ...rest, lengths: [token, nonce].map((secret) => String(secret).length), isMasked: typeof to };
}

describe('a deactivated user', () => {
  it('who proves a suspended key learns that the account is not active, and gets no code', async () => {
    const messages = world.app.mailbox.length;
    expect(await asks(page, 'use')).toMatchObject(refusal('ACCOUNT_INACTIVE', 403));
    await world.app.runJobs();
    expect(world.app.mailbox).toHaveLength(messages);
    expect(
      await rows(world.app.services.db, 'select 1 from one_time_codes where project_id = ?', [world.project.id]),
    ).toEqual([]);
    const [event] = await rows<{ detail: object }>(
      world.app.services.db,
      `select detail from audit_log where project_id = ? and type = 'signin.refused' order by id desc limit 1`,
      [world.project.id],
    );
    expect(event?.detail).toMatchObject({ step: 'authenticate', fault: 'account-inactive' });
  });

  it('keeps the key: it signs in again after a reactivation', async () => {
    expect(await asks(page, 'use')).toMatchObject(refusal('ACCOUNT_INACTIVE', 403));
    await setActive(true);
    expectStatus(await asks(page, 'use'), 'SUCCESS');
  });

  it('cannot be distinguished from an unknown address without the proof', async () => {
    const unknown = shape(await asks(await world.page(), undefined, newAddress()));
    const stranger = await world.page();
    const forged = { kind: 'use', key: await newDeviceKey(), header: { kid: page.key.jkt } } as const;
    const answers = [
      await asks(page),
      await asks(stranger, 'use'),
      await asks(page, forged),
      await asks(page, {
        kind: 'use',
        claims: { iat: page.now() - 1 },
        key: stranger.key,
        header: { kid: page.key.jkt },
      }),
    ];
    for (const answer of answers) {
      if (answer.httpStatus === 429) continue;
      expect(shape(answer)).toEqual(unknown);
    }
  });

  it('whose key an admin revoked gets no explanation either', async () => {
    await world.app.services.accountAccess.deactivate(world.project.id, user.id, system);
    expectStatus(await asks(page, 'use'), 'OTP_NEEDED');
  });

  it('gets no explanation by a proof for another address', async () => {
    expectStatus(await asks(page, 'use', newAddress()), 'OTP_NEEDED');
  });
});
