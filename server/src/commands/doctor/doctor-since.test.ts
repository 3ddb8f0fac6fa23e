import { beforeEach, describe, expect, it } from 'vitest';
import { shellAt, testMasterKey } from '../../../test/shell.ts';
import { newAddress, SigninWorld } from '../../../test/signin-world.ts';
import { everything } from '../../domain/admins/permission.ts';
import type { SystemCheck } from '../../domain/instance/checks.ts';
import { type Actor, system } from '../../domain/kernel/actor.ts';

const world = SigninWorld.ofTests();
let since: string;
beforeEach(() => {
  since = world.app.clock.now().toISOString();
});

async function examined(from = since): Promise<{ code: number; checks: Record<string, SystemCheck> }> {
  const env = { DATABASE_URL: world.app.databaseUrl, MASTER_KEY: testMasterKey, BASE_URL: world.app.url };
  const { code, out } = await shellAt(world.app.clock, env, 'doctor', '--json', '--since', from);
  const { checks } = JSON.parse(out) as { checks: SystemCheck[] };
  return { code, checks: Object.fromEntries(checks.map((check) => [check.name, check])) };
}

/** Records the two events of the takeover: a code sent to one account and entered for another. */
async function takeOver(victim: { id: string; userName: string }, attacker: { id: string; userName: string }) {
  const { audit, db } = world.app.services;
  const actor: Actor = { kind: 'anonymous', ip: '203.0.113.7' };
  const about = ({ id, userName }: typeof victim) => ({
    ...{ actor, projectId: world.project.id, clientId: world.client.id },
    subject: { kind: 'user', id, name: userName },
  });
  await db.transaction(async (em) => audit.record(em, { type: 'otp.sent', ...about(attacker) }));
  world.app.clock.turn(20);
  await db.transaction(async (em) =>
    audit.record(em, { type: 'otp.verified', ...about(victim), detail: { afterSeconds: 20 } }),
  );
}

describe('doctor --since', () => {
  it('passes for sign-ins of existing and new users at the same time', async () => {
    const known = await world.user();
    for (const userid of [known.email as string, newAddress(), newAddress()]) {
      const page = await world.page();
      await page.challenge();
      await page.step('authenticate', { userid });
      world.app.clock.turn(40);
      await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) });
      await page.step('verify-device', { userid }, 'registration');
    }
    const { checks } = await examined();
    expect(checks['Codes']).toMatchObject({ level: 'ok', advice: null });
    expect(checks['Devices']?.summary).toMatch(/^3 registered since, by 3 people/);
  });

  it('fails for a code that was sent to another account, and names the affected account', async () => {
    const [victim, attacker] = [await world.user(), await world.user()];
    await takeOver(victim, attacker);
    const { code, checks } = await examined();
    expect([code, checks['Codes']?.level, checks['Codes']?.summary]).toEqual([
      1,
      'fail',
      '1 entered for an account to which no code was sent at that time',
    ]);
    expect(checks['Codes']?.advice).toContain(victim.id);
    expect(checks['Codes']?.advice).toContain('203.0.113.7');
    world.app.clock.turn(60);
    expect((await examined(world.app.clock.now().toISOString())).checks['Codes']).toMatchObject({ level: 'ok' });
  });

  it('counts passkeys separately from devices', async () => {
    const { passkeys, db, seed } = world.app.services;
    const { console: ofAdmins } = await seed.create({ demo: false });
    const user = await world.user();
    const admin = await world.app.make.user(ofAdmins);
    await db.transaction(async (em) => {
      for (const [n, owner] of [user, user, admin].entries()) {
        const created = {
          ...{ credentialId: `credential-${n}`, publicKey: 'pQECAyYg', alg: -7, transports: [], signCount: 0 },
          ...{ aaguid: '00000000-0000-0000-0000-000000000000', attestedRoot: null, attestationFormat: 'none' },
          ...{ backupEligible: true, backedUp: true, userVerified: true },
        };
        await passkeys.register(em, { user: owner, created, createdBy: 'mail-code', actor: system });
      }
    });
    const { checks } = await examined();
    expect(checks['Devices']?.summary).toBe(
      '0 registered since, by 0 people; 3 passkeys added, 0 second factors set up',
    );
    expect(checks['Admin devices']).toMatchObject({ level: 'warn', summary: '0 registered since, 1 passkeys added' });
  });

  it('counts admin tokens, roles, setup links and admin devices since that time only', async () => {
    const { admins, seed } = world.app.services;
    await seed.create({ demo: false });
    const by = { grants: everything, actor: system };
    await admins.createToken({ name: 'before', role: 'owner' }, by);
    world.app.clock.turn(60);
    since = world.app.clock.now().toISOString();
    const quiet = await examined();
    for (const name of ['Admin tokens', 'Admin roles', 'Setup links', 'Admin devices'])
      expect(quiet.checks[name]).toMatchObject({ level: 'ok', advice: null });
    const { adminToken } = await admins.createToken({ name: 'after', role: 'owner' }, by);
    await admins.createToken({ name: 'live', role: 'owner' }, by);
    await admins.revokeToken(adminToken.id, by);
    await admins.grantRole({ email: 'ada@example.com', role: 'project_admin', projectId: world.project.id }, by);
    const { checks } = await examined();
    expect(checks['Admin tokens']).toMatchObject({ level: 'warn', summary: '2 issued since, 1 live' });
    expect(checks['Admin roles']).toMatchObject({ level: 'warn', summary: '1 granted since, 1 still active' });
  });

  it.each(['yesterday', '2026-13-01', '2999-01-01', ''])('rejects %j as a date', async (text) => {
    const { code, err } = await shellAt(world.app.clock, {}, 'doctor', '--since', text);
    expect([code, err]).toEqual([2, expect.stringContaining('--since must be')]);
  });
});
