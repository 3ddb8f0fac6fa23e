import { beforeEach, describe, expect, it } from 'vitest';
import { reencoded } from '../../test/reencoded.ts';
import { type DeviceKey, newDeviceKey, type ProofOptions, type SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { Device } from '../domain/credentials/device.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { query, sql } from '../domain/kernel/sql.ts';

const world = SigninWorld.ofTests();
let page: SigninPage;
let userid: string;

beforeEach(async () => {
  page = await world.page();
  userid = newAddress();
});

describe('an invalid proof', () => {
  let stranger: DeviceKey;
  beforeEach(async () => {
    await world.register(page, userid);
    await page.challenge();
    stranger = await newDeviceKey();
  });

  it.each<[string, string, () => Partial<ProofOptions>]>([
    ['another step', 'PROOF_REJECTED', () => ({ claims: { act: 'verify-mfa' } })],
    ['another project', 'PROOF_REJECTED', () => ({ claims: { aud: `${world.app.url}/${world.client.id}` } })],
    ['another client', 'PROOF_REJECTED', () => ({ claims: { cid: world.project.id } })],
    ['another origin', 'PROOF_REJECTED', () => ({ claims: { org: 'https://evil.example' } })],
    ['another transaction', 'PROOF_REJECTED', () => ({ claims: { txn: 'x'.repeat(43) } })],
    ['a code_challenge that was not sent', 'PROOF_REJECTED', () => ({ claims: { cc: 'x'.repeat(43) } })],
    ['another body', 'PROOF_REJECTED', () => ({ claims: { bh: 'x'.repeat(43) } })],
    ['another nonce', 'NONCE_REJECTED', () => ({ claims: { nonce: 'x'.repeat(43) } })],
    ['a clock skew of six minutes', 'PROOF_REJECTED', () => ({ claims: { iat: page.now() + 360 } })],
    ['another type', 'PROOF_REJECTED', () => ({ header: { typ: 'dpop+jwt' } })],
    ['another algorithm', 'PROOF_REJECTED', () => ({ header: { alg: 'none' } })],
    ['another key under this kid', 'PROOF_REJECTED', () => ({ key: stranger, header: { kid: page.key.jkt } })],
    ['another key', 'PROOF_REJECTED', () => ({ key: stranger })],
  ])('with %s is %s, and the sign-in continues with the next nonce', async (_, code, over) => {
    const refused = await page.step('authenticate', { userid }, { kind: 'use', ...over() });
    expect(refused).toMatchObject(refusal(code, 401));
    expect(refused['nonce']).toMatch(/^[\w-]{43}$/);
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });

  it('is rejected when sent again', async () => {
    const body = JSON.stringify({ txn: page.txn, userid: 'not an address' });
    const proof = page.prove('authenticate', body, { kind: 'use' });
    expectStatus(await page.post('authenticate', body, { 'Device-Proof': proof }), 'INVALID_EMAIL');
    expect(await page.post('authenticate', body, { 'Device-Proof': proof })).toMatchObject(
      refusal('NONCE_REJECTED', 401),
    );
  });

  it('is recorded in at most one event per hour', async () => {
    const countOf = async () => {
      const [event] = await query(
        world.app.services.db.alone,
        sql<{ events: number; count: number }>`
          select count(*)::int as events, coalesce(sum((detail->>'count')::int), 0)::int as count from audit_log
          where project_id = ${world.project.id} and type = 'device.proof_rejected' and detail->>'fault' = 'act'`,
      );
      return event;
    };
    const before = await countOf();
    const wrong = { kind: 'use', claims: { act: 'verify-mfa' } } as const;
    for (let n = 0; n < 20; n += 1) await page.step('authenticate', { userid }, wrong);
    const after = await countOf();
    expect(after?.events).toBeLessThanOrEqual((before?.events ?? 0) + 1);
    expect(after?.count).toBe((before?.count ?? 0) + 20);
  });

  it('in a non-canonical encoding is PROOF_REJECTED: padding, other characters or unused bits', async () => {
    const body = JSON.stringify({ txn: page.txn, userid: 'not an address' });
    const proof = page.prove('authenticate', body, { kind: 'use' });
    for (const other of reencoded(proof)) {
      expect(await page.post('authenticate', body, { 'Device-Proof': other })).toMatchObject(
        refusal('PROOF_REJECTED', 401),
      );
    }
  });

  it('with a nonce older than two minutes is NONCE_REJECTED; the next nonce works', async () => {
    world.app.clock.turn(121);
    expect(await page.step('authenticate', { userid }, 'use')).toMatchObject(refusal('NONCE_REJECTED', 401));
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });

  it('may have a clock skew of five minutes', async () => {
    const skewed = { kind: 'use' as const, claims: { iat: page.now() - 300 } };
    expectStatus(await page.step('authenticate', { userid }, skewed), 'SUCCESS');
  });
});

describe('every step that takes a proof', () => {
  /** Runs the sign-in up to that step; returns its input. */
  const due: Record<string, () => Promise<Record<string, unknown>>> = {
    'verify-device': async () => {
      await world.verifyAddress(page, userid);
      return {};
    },
    'initiate-mfa': async () => {
      await world.verifyAddress(page, userid);
      await page.step('verify-device', { userid, mfa_method: 'email' }, 'registration');
      await page.challenge();
      const required = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
      return { session_id: required['session_id'] };
    },
    'verify-mfa': async () => {
      await world.enrol(page, userid, { mfa_method: 'email' });
      return { otp: await world.codeFor(userid) };
    },
    'change-phone-number': async () => {
      await stepUp();
      return { phone_number: '+4917088000001' };
    },
    'verify-phone-number': async () => {
      await stepUp();
      const phone_number = '+4917088000002';
      await page.step('change-phone-number', { userid, phone_number }, 'use');
      return { otp: await world.codeFor(phone_number) };
    },
  };
  const stepUp = async () => {
    await page.challenge();
    await page.step('authenticate', { userid, step_up: 'change_phone_number' });
    await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) });
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
  };
  const spare = async (): Promise<SigninPage> => {
    const other = await world.page();
    await other.challenge();
    return other;
  };

  it.each(Object.keys(due))('%s rejects a foreign or used nonce, transaction, key, origin or body', async (step) => {
    await world.set({ mfaPolicy: 'optional' });
    const kind = step === 'verify-device' ? 'registration' : 'use';
    const fields = { userid, ...(await (due[step] as () => Promise<object>)()) };
    const other = await spare();
    const spent = page.nonce;
    const expected: [string, ProofOptions, string][] = [
      ['the nonce of another sign-in', { kind, claims: { nonce: other.nonce } }, 'NONCE_REJECTED'],
      ['a spent nonce', { kind, claims: { nonce: spent } }, 'NONCE_REJECTED'],
      ['another transaction', { kind, claims: { txn: other.txn } }, 'PROOF_REJECTED'],
      ['another key', { kind, key: other.key }, 'PROOF_REJECTED'],
      ['another origin', { kind, claims: { org: 'https://evil.example' } }, 'PROOF_REJECTED'],
      ['another body', { kind, claims: { bh: 'x'.repeat(43) } }, 'PROOF_REJECTED'],
      ['another step', { kind, claims: { act: 'authenticate' } }, 'PROOF_REJECTED'],
      ['a clock far off', { kind, claims: { iat: page.now() - 360 } }, 'PROOF_REJECTED'],
    ];
    expect(await page.step(step, fields)).toMatchObject(refusal('PROOF_REQUIRED', 401));
    for (const [what, proof, code] of expected) {
      expect([what, await page.step(step, fields, proof)]).toEqual([what, expect.objectContaining(refusal(code, 401))]);
    }
    const { nonce } = page;
    const elsewhere = await page.step(step, { ...fields, txn: other.txn }, kind);
    expect(elsewhere).toMatchObject(refusal('OUT_OF_ORDER', 409));
    [page.nonce, other.nonce] = [nonce, elsewhere['nonce']];
    expect((await page.step(step, fields, kind)).status).not.toBe('ERROR');
    // The other sign-in is not affected.
    expectStatus(await other.step('authenticate', { userid: newAddress() }, 'use'), 'OTP_NEEDED');
  });
});

describe('a registration', () => {
  it('before the code is verified is rejected', async () => {
    await page.challenge();
    expect(await page.step('verify-device', { userid }, 'registration')).toMatchObject(refusal('OUT_OF_ORDER', 409));
    await page.step('authenticate', { userid });
    expect(await page.step('verify-device', { userid }, 'registration')).toMatchObject(refusal('OUT_OF_ORDER', 409));
  });

  it('needs a proof that contains the key of the transaction', async () => {
    await world.verifyAddress(page, userid);
    expect(await page.step('verify-device', { userid })).toMatchObject(refusal('PROOF_REQUIRED', 401));
    expect(await page.step('verify-device', { userid }, 'use')).toMatchObject(refusal('PROOF_REJECTED', 401));
    const other = { kind: 'registration', key: await newDeviceKey() } as const;
    expect(await page.step('verify-device', { userid }, other)).toMatchObject(refusal('PROOF_REJECTED', 401));
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
  });

  it('is rejected in a transaction begun without a key', async () => {
    await page.challenge({});
    await page.step('authenticate', { userid });
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    expect(await page.step('verify-device', { userid }, 'registration')).toMatchObject(refusal('PROOF_REJECTED', 401));
  });

  it('applies to the verified address', async () => {
    await world.verifyAddress(page, userid);
    const refused = await page.step('verify-device', { userid: newAddress() }, 'registration');
    expect(refused).toMatchObject(refusal('INVALID_REQUEST', 400));
  });

  it('of a revoked key is rejected, even after the user verifies the address', async () => {
    await world.register(page, userid);
    const { db, devices } = world.app.services;
    await db.transaction(async (em) => {
      const device = await em.findOneOrFail(Device, { jkt: page.key.jkt });
      await devices.revoke(em, { projectId: world.project.id, userId: device.user.id }, device.id, system);
    });
    world.app.clock.turn(60);
    expect(await world.register(page, userid)).toMatchObject(refusal('DEVICE_REVOKED', 403));
    world.app.clock.turn(60);
    expectStatus(await world.register(await world.page(), userid), 'SUCCESS');
  });
});
