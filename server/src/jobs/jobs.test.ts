import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newAddress, SigninWorld } from '../../test/signin-world.ts';
import { jobs } from './jobs.ts';

let world: SigninWorld;
beforeAll(async () => {
  world = await SigninWorld.open();
});
afterAll(() => world.app.close());

const table = () => jobs(world.app.services);

async function count(name: string): Promise<number> {
  const [row] = await world.app.services.db.reader().execute<{ n: number }[]>(`select count(*)::int as n from ${name}`);
  return row?.n ?? -1;
}

async function sweep(): Promise<void> {
  for (const job of table().periodic) await job.run();
}

/** Sweeps the rows that expire within `days`: the time of retention follows the clock by six hours a run (decisions/0356). */
async function sweepAll(days: number): Promise<void> {
  const following = table().periodic.find(({ name }) => name === 'sweep.events');
  for (let run = 0; run < days * 4; run += 1) await following?.run();
  await sweep();
}

describe('periodic jobs', () => {
  it('have unique names, and leave a sign-in in progress intact', async () => {
    const { queued, periodic } = table();
    const names = [...queued, ...periodic].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    await world.begin();
    const page = await world.page();
    const userid = newAddress();
    await world.register(page, userid);
    await sweep();
    await page.challenge();
    await sweep();
    expect((await page.step('authenticate', { userid }, 'use')).status).toBe('SUCCESS');
  });

  it('delete expired codes, sign-ins, budgets, pending factors and unremembered devices, and keep the rest', async () => {
    await world.begin({ mfaPolicy: 'optional' });
    const [page, guest] = [await world.page(), await world.page()];
    const userid = newAddress();
    await world.register(page, userid);
    world.app.clock.turn(60);
    await world.verifyAddress(guest, userid, { remember_device: false });
    await guest.step('verify-device', { userid, mfa_method: 'totp' }, 'registration');
    const swept = ['one_time_codes', 'budgets', 'ceremonies', 'authorization_codes', 'enrolments'];
    for (const name of swept) expect(await count(name), name).toBeGreaterThan(0);
    const devices = await count('credentials');
    world.app.clock.turn(2 * 24 * 3600);
    await sweepAll(2);
    for (const name of swept) expect(await count(name), name).toBe(0);
    expect(await count('credentials')).toBe(devices);
    world.app.clock.turn(30 * 24 * 3600);
    await sweepAll(30);
    expect(await count('credentials')).toBe(devices - 1);
    expect(await count('messages')).toBe(0);
    expect((await world.findUser(userid))?.emailKey).toBe(userid);
  });
});
