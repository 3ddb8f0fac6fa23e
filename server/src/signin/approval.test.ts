import { beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import type { SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import { keyIn } from '../domain/projects/tenant.ts';

const world = SigninWorld.ofTests({ signUp: 'approval' });
let page: SigninPage;
let userid: string;

beforeEach(async () => {
  await world.app.runJobs();
  page = await world.page();
  userid = newAddress();
});

interface RequestRow {
  id: string;
  address: string;
  state: string;
  locale: string;
}

const ofProject = <T extends object>(sql: string) => rows<T>(world.app.services.db, sql, [world.project.id]);
const requests = () =>
  ofProject<RequestRow>('select id, address, state, locale from sign_up_requests where project_id = ? order by id');
const users = () => ofProject<{ user_name: string }>('select user_name from users where project_id = ?');
const events = async () =>
  (
    await ofProject<{ type: string }>(
      `select type from audit_log where project_id = ? and type like 'user.%' order by id`,
    )
  ).map(({ type }) => type);

/** Verifies the address, up to the refusal. */
async function ask(on: SigninPage, address: string) {
  await on.challenge();
  expectStatus(await on.step('authenticate', { userid: address }), 'OTP_NEEDED');
  const otp = await world.codeFor(address.toLowerCase());
  return { otp, answer: await on.step('verify-email-otp', { userid: address, otp }) };
}

const waits = { error: { code: 'APPROVAL_REQUIRED', category: 'user_action' } };

async function onlyRequest() {
  const [request, ...others] = await requests();
  expect(others).toEqual([]);
  return keyIn(world.project.id, String(request?.id));
}

describe('sign-up with approval', () => {
  it('asks the admins once the address is verified, and creates no user', async () => {
    const { answer } = await ask(page, userid);
    expect(answer).toMatchObject(waits);
    expect(answer.nonce).toBeUndefined();
    expect(await requests()).toMatchObject([{ address: userid, state: 'pending', locale: 'en' }]);
    expect(await users()).toEqual([]);
    expect(await events()).toEqual(['user.approval_requested']);
  });

  it('asks nothing for an address that is not verified', async () => {
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
    expect(await page.step('verify-email-otp', { userid, otp: '000000' })).toMatchObject({
      error: { code: 'CODE_REJECTED' },
    });
    expect(await requests()).toEqual([]);
  });

  it('uses up the code and ends the sign-in', async () => {
    const { otp } = await ask(page, userid);
    expect(await page.step('verify-email-otp', { userid, otp })).toMatchObject({
      error: { code: 'TRANSACTION_EXPIRED' },
    });
    expect(await page.step('verify-device', { userid }, 'registration')).toMatchObject({
      error: { code: 'TRANSACTION_EXPIRED' },
    });
    const [code] = await ofProject<{ used: boolean }>(
      'select used_at is not null as used from one_time_codes where project_id = ?',
    );
    expect(code).toEqual({ used: true });
  });

  it('keeps one request for each address, and one event', async () => {
    await ask(page, userid);
    world.app.clock.turn(60);
    expect((await ask(await world.page(), userid.toUpperCase())).answer).toMatchObject(waits);
    expect(await requests()).toHaveLength(1);
    expect(await events()).toEqual(['user.approval_requested']);
  });

  it('lets the person sign in after an admin approved, and notifies them by mail', async () => {
    await ask(page, userid);
    const user = await world.app.services.signUpApprovals.approve(await onlyRequest(), system);
    expect(user).toMatchObject({ userName: userid, email: userid, active: true });
    expect(await requests()).toEqual([]);
    expect(await world.subjectsFor(userid)).toContain('Your account for Example is ready');
    const mail = world.app.mailbox.findLast(({ to }) => to === userid);
    expect(mail?.text).toContain('Sign in here: https://app.example.com/\n');
    world.app.clock.turn(60);
    expectStatus(await world.register(await world.page(), userid), 'SUCCESS');
    expect(await events()).toEqual([
      'user.approval_requested',
      'user.approval_given',
      'user.created',
      'user.signed_in',
    ]);
  });

  it('links to the account page if the application has no address', async () => {
    await ask(page, userid);
    await world.app.services.clients.update(world.client, { redirectUris: [] }, system);
    await world.app.services.signUpApprovals.approve(await onlyRequest(), system);
    await world.app.runJobs();
    const mail = world.app.mailbox.findLast(({ to }) => to === userid);
    expect(mail?.text).toContain(`/account?project=${world.project.id}`);
  });

  it('answers the same after an admin declined, and asks no admin again until the request expires', async () => {
    await ask(page, userid);
    await world.app.services.signUpApprovals.decline(await onlyRequest(), system);
    world.app.clock.turn(60);
    expect((await ask(await world.page(), userid)).answer).toMatchObject(waits);
    expect(await requests()).toMatchObject([{ state: 'declined' }]);
    world.app.clock.turn(30 * 24 * 3600);
    expect((await ask(await world.page(), userid)).answer).toMatchObject(waits);
    expect(await requests()).toMatchObject([{ state: 'pending' }]);
    expect(await events()).toEqual(['user.approval_requested', 'user.approval_refused', 'user.approval_requested']);
  });

  it('waits for the number of days that the project had set at the time of the request', async () => {
    await world.set({ signUpRequestDays: 7 });
    await ask(page, userid);
    await world.set({ signUpRequestDays: 1 });
    world.app.clock.turn(7 * 24 * 3600 - 1);
    await world.app.services.signUpApprovals.decline(await onlyRequest(), system);
    world.app.clock.turn(1);
    expect((await ask(await world.page(), userid)).answer).toMatchObject(waits);
    world.app.clock.turn(24 * 3600);
    await expect(world.app.services.signUpApprovals.approve(await onlyRequest(), system)).rejects.toMatchObject({
      problem: { code: 'not-found' },
    });
  });

  it('gives the admins the number of requests and the link to them, and no address', async () => {
    await world.app.services.seed.create({ demo: false });
    const to = `admin-${world.project.id}@example.com`;
    const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    await world.app.services.admins.grantRole({ email: to, role: 'project_admin', projectId: world.project.id }, by);
    await ask(page, userid);
    const other = newAddress();
    await ask(await world.page(), other);
    await world.app.services.signUpNotices.send();
    expect(await world.subjectsFor(to)).toEqual(['Sign-up requests for Example']);
    const mail = world.app.mailbox.findLast((message) => message.to === to);
    expect(mail?.text).toContain('2 sign-up requests wait for an admin of Example.');
    expect(mail?.text).toMatch(new RegExp(`/admin/projects/${world.project.id}/users/sign-ups\\s*$`));
    for (const address of [userid, other]) expect(JSON.stringify(mail)).not.toContain(address);
    // A request that follows an expired one of the same address is a new one.
    world.app.clock.turn(30 * 24 * 3600);
    await ask(await world.page(), userid);
    await world.app.services.signUpNotices.send();
    expect(await world.subjectsFor(to)).toHaveLength(2);
  });

  it('does not concern users who exist', async () => {
    const person = await world.user();
    expectStatus(await world.register(page, person.userName), 'SUCCESS');
    expect(await requests()).toEqual([]);
  });

  it('leaves out blocked domains', async () => {
    await world.set({ blockedSignUpDomains: ['example.com'] });
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
    await expect(world.codeFor(userid)).rejects.toThrow('no code');
    expect(await requests()).toEqual([]);
  });
});

describe('the decision on a request', () => {
  const approvals = () => world.app.services.signUpApprovals;
  const notFound = { problem: { code: 'not-found', what: 'sign-up-request' } };

  it('is taken once: of several admins at the same time, one approves', async () => {
    await ask(page, userid);
    const key = await onlyRequest();
    const outcomes = await Promise.allSettled([
      ...[1, 2, 3].map(() => approvals().approve(key, system)),
      ...[1, 2, 3].map(() => approvals().decline(key, system)),
    ]);
    const approved = outcomes.slice(0, 3).filter(({ status }) => status === 'fulfilled');
    expect(approved).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(notFound);
    expect(await users()).toEqual([{ user_name: userid }]);
    expect(await requests()).toEqual([]);
  });

  it('is refused once the request has expired, and for one of another project', async () => {
    await ask(page, userid);
    const key = await onlyRequest();
    const elsewhere = await world.app.make.project({ name: 'Other' });
    await expect(approvals().approve(keyIn(elsewhere.id, key.id), system)).rejects.toMatchObject(notFound);
    world.app.clock.turn(30 * 24 * 3600);
    await expect(approvals().approve(key, system)).rejects.toMatchObject(notFound);
    await expect(approvals().decline(key, system)).rejects.toMatchObject(notFound);
    expect(await users()).toEqual([]);
  });

  it('approves one that was declined', async () => {
    await ask(page, userid);
    const key = await onlyRequest();
    await approvals().decline(key, system);
    await expect(approvals().decline(key, system)).rejects.toMatchObject(notFound);
    expect((await approvals().approve(key, system)).userName).toBe(userid);
  });

  it('returns the account that a directory created meanwhile, and sends no mail', async () => {
    await ask(page, userid);
    const person = await world.user({ userName: userid, userNameKey: userid, email: userid, emailKey: userid });
    expect((await approvals().approve(await onlyRequest(), system)).id).toBe(person.id);
    expect(await world.subjectsFor(userid)).not.toContain('Your account for Example is ready');
    expect(await requests()).toEqual([]);
  });

  it('keeps the request if the address is reserved for an inactive user', async () => {
    await ask(page, userid);
    const person = await world.user({ provenance: 'scim' });
    await rows(
      world.app.services.db,
      `insert into suspensions (project_id, user_id, suspended_at, email_key, user_name_key) values (?, ?, ?, ?, ?) returning 1`,
      [world.project.id, person.id, world.app.clock.now(), userid, userid],
    );
    await rows(world.app.services.db, 'update users set active = false where id = ? returning 1', [person.id]);
    await expect(approvals().approve(await onlyRequest(), system)).rejects.toMatchObject({
      problem: { code: 'taken' },
    });
    expect(await requests()).toMatchObject([{ state: 'pending' }]);
  });

  it('is no longer needed once a user with the address is erased', async () => {
    await ask(page, userid);
    const person = await world.user({ userName: userid, userNameKey: userid, email: userid, emailKey: userid });
    await world.app.services.accountAccess.erase(world.project.id, person.id, system);
    expect(await requests()).toEqual([]);
  });
});
