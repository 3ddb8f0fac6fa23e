import { beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import type { ProjectSettings } from '../domain/projects/project.resource.ts';

const world = SigninWorld.ofTests();

beforeEach(() => world.app.runJobs());

const outsider = () => newAddress().replace('example.com', 'example.net');
const restrict = () => world.set({ signUp: 'domains', signUpDomains: ['example.com'] });
const userNames = async () => {
  const found = await rows<{ user_name: string }>(
    world.app.services.db,
    'select user_name from users where project_id = ?',
    [world.project.id],
  );
  return found.map(({ user_name }) => user_name);
};

/** The answer to the address, and the mails that follow. */
async function asked(userid: string) {
  const page = await world.page();
  await page.challenge();
  const { status, message, resend_after } = await page.step('authenticate', { userid });
  const answer = { status, message, resend_after };
  const before = world.app.mailbox.length;
  await world.app.runJobs();
  return { answer, mails: world.app.mailbox.slice(before).map(({ to }) => to) };
}

describe('sign-up for certain domains', () => {
  it('lets an address of a listed domain sign up', async () => {
    await restrict();
    const address = newAddress();
    expectStatus(await world.register(await world.page(), address), 'SUCCESS');
    expect(await userNames()).toEqual([address]);
  });

  it('answers the same for other addresses, but sends them no code', async () => {
    await restrict();
    const [inside, outside] = [await asked(newAddress()), await asked(outsider())];
    expect(outside.answer).toEqual(inside.answer);
    expect([inside.mails.length, outside.mails.length]).toEqual([1, 0]);
    const notes = await rows<{ note: string | null }>(
      world.app.services.db,
      `select note from messages where project_id = ? and state = 'suppressed'`,
      [world.project.id],
    );
    expect(notes).toEqual([{ note: 'no account has this address, and its domain may not sign up' }]);
  });

  it('does not concern existing users', async () => {
    const person = await world.user({
      userName: 'bo@example.net',
      userNameKey: 'bo@example.net',
      email: 'bo@example.net',
      emailKey: 'bo@example.net',
    });
    await restrict();
    expectStatus(await world.register(await world.page(), person.userName), 'SUCCESS');
  });

  it('refuses a code that was sent before the domain was taken off the list or blocked', async () => {
    for (const settings of [
      { signUp: 'domains', signUpDomains: ['example.org'] },
      { signUp: 'open', blockedSignUpDomains: ['example.com'] },
    ] satisfies Partial<ProjectSettings>[]) {
      await world.set({ signUp: 'open', blockedSignUpDomains: [] });
      const [page, userid] = [await world.page(), newAddress()];
      await page.challenge();
      expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
      const otp = await world.codeFor(userid);
      await world.set(settings);
      expect(await page.step('verify-email-otp', { userid, otp })).toMatchObject({ error: { code: 'CODE_REJECTED' } });
      expect(await userNames()).not.toContain(userid);
      world.app.clock.turn(3600);
    }
    const faults = await rows<{ fault: string }>(
      world.app.services.db,
      `select detail->>'fault' as fault from audit_log where project_id = ? and type = 'otp.rejected' order by id`,
      [world.project.id],
    );
    expect(faults).toEqual([{ fault: 'domain' }, { fault: 'domain' }]);
  });
});
