import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import { TestBackEnd } from '../../test/back-end.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { jobs } from '../jobs/jobs.ts';

/** Two processes on one database: one with an http BASE_URL, one with https. */
let plain: TestApp;
const world = new SigninWorld();
beforeAll(async () => {
  plain = await buildTestApp();
  await plain.services.seed.create({ demo: false });
  world.app = await buildSibling(plain, 'https://id.example.com');
});
afterAll(async () => {
  await world.app.close();
  await plain.close();
});
beforeEach(() => world.begin({ testMode: true, mfaPolicy: 'optional' }));

async function fill(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await world.user();
}

const events = async () => {
  const sql = `select actor_kind as actor, detail from audit_log where type = 'project.test_mode_ended' and project_id = ?`;
  return world.app.services.db.reader().execute(sql, [world.project.id]);
};
const isOn = async () =>
  (await world.app.services.projects.find(world.app.services.db.reader(), world.project.id))?.testMode;

describe('test mode over https', () => {
  it('shows codes up to 100 users, and none from the 101st user, even if the setting is on', async () => {
    await fill(100);
    const page = await world.page();
    await page.challenge();
    expect((await page.step('authenticate', { userid: newAddress() })).code).toMatch(/^\d{6}$/);
    await fill(1);
    const userid = newAddress();
    await page.challenge();
    expect(expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED')).not.toHaveProperty('code');
    const otp = await world.codeFor(userid);
    expectStatus(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
    const sms = { userid, mfa_method: 'sms', phone_number: '+46701234567' };
    expectStatus(await page.step('verify-device', sms, 'registration'), 'DEVICE_REGISTERED');
    world.app.clock.turn(60);
    expect(expectStatus(await world.meetFactor(page, userid), 'MFA_INITIATED')).not.toHaveProperty('code');
    expect(await isOn()).toBe(true);
  });

  it('shows codes of the account page and of a back end up to 100 users, and none from the 101st user', async () => {
    const { app, project } = world;
    const { services } = app;
    const user = await world.user();
    const visit = await peopleOf(world).visitOf(user);
    for (const [name, value] of [...visit.browser.cookies]) visit.browser.cookies.set(`__Host-${name}`, value);
    const onPage = async (phone: string) => {
      const page = await (await visit.change('change-phone', { phone })).text();
      return /the code is (\d{6})/.exec(page)?.[1];
    };
    const backEnd = await TestBackEnd.of(app, project);
    const toBackEnd = async (mfaMethod: string) => {
      const body = { userid: user.id, mfa_method: mfaMethod };
      const claims = { aud: `https://id.example.com/${project.id}` };
      return (await backEnd.send(await backEnd.seal({ op: 'initiateMfaChange', body, claims }))).payload?.body;
    };
    expect(await onPage('+46701234567')).toMatch(/^\d{6}$/);
    expect(await toBackEnd('email')).toMatchObject({
      sent_to: expect.anything(),
      otp: expect.stringMatching(/^\d{6}$/),
    });

    await fill(100);
    app.clock.turn(60);
    expect(await onPage('+46701234568')).toBeUndefined();
    expect(await world.codeFor('+46701234568')).toMatch(/^\d{6}$/);
    const answer = await toBackEnd('email');
    expect(answer).toMatchObject({ sent_to: expect.anything() });
    expect(answer).not.toHaveProperty('otp');
    expect((await services.projects.find(services.db.reader(), project.id))?.testMode).toBe(true);
  });

  it('is turned off by a job above 100 users, with an audit event', async () => {
    const run = async (app: TestApp) => {
      const table = jobs(app.services);
      await table.periodic.find(({ name }) => name === 'projects.test-mode')?.run();
    };
    await fill(100);
    await run(world.app);
    expect(await isOn()).toBe(true);
    await fill(1);
    await run(plain);
    expect(await isOn()).toBe(true);
    await run(world.app);
    await run(world.app);
    expect(await isOn()).toBe(false);
    expect(await events()).toEqual([{ actor: 'system', detail: { reason: 'user-limit', users: 101 } }]);
  });

  it('is turned off at the first start with an https BASE_URL', async () => {
    await fill(101);
    await plain.services.seed.create({ demo: false });
    expect(await isOn()).toBe(true);
    await world.app.services.seed.create({ demo: false });
    expect(await isOn()).toBe(false);
    expect(await events()).toEqual([{ actor: 'system', detail: { reason: 'base-address', users: 101 } }]);
  });
});
