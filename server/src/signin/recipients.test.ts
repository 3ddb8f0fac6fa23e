import { beforeEach, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import { changed, rows } from '../../test/rows.ts';
import type { SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { statementsDuring } from '../../test/statements.ts';
import { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { query, sql } from '../domain/kernel/sql.ts';
import type { ProjectSettings } from '../domain/projects/project.resource.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
let page: SigninPage;

beforeEach(async () => {
  await world.app.runJobs();
  page = await world.page();
});

const named = (name: string) => ({ userName: name, userNameKey: name, email: name, emailKey: name });
const change = (sql: string, ...values: unknown[]) => changed(world.app.services.db, sql, values);

async function ask(userid: string): Promise<void> {
  const asking = await world.page();
  await asking.challenge();
  expectStatus(await asking.step('authenticate', { userid }), 'OTP_NEEDED');
}

/** Recipients of the messages that are due. */
async function delivered(): Promise<string[]> {
  const before = world.app.mailbox.length;
  await world.app.runJobs();
  return world.app.mailbox.slice(before).map(({ to }) => to);
}

/** Status of the project's newest message. */
async function newest(): Promise<{ state: string; note: string | null }> {
  const sql = 'select state, note from messages where project_id = ? order by id desc limit 1';
  const [row] = await rows<{ state: string; note: string | null }>(world.app.services.db, sql, [world.project.id]);
  return row as { state: string; note: string | null };
}

describe('a sign-in code', () => {
  it('goes to the user whose userName was typed, even if the userName moved before the mail was sent', async () => {
    const [typed, mailbox, successors] = [newAddress(), newAddress(), newAddress()];
    const person = await world.user({ ...named(typed), email: mailbox, emailKey: mailbox });
    await ask(typed);
    await change('update users set user_name = ?, user_name_key = ? where id = ?', 'gone', 'gone', person.id);
    await world.user({ ...named(typed), email: successors, emailKey: successors });
    expect(await delivered()).toEqual([mailbox]);
  });

  it('is not sent if the address of the account changed before', async () => {
    const [before, after] = [newAddress(), newAddress()];
    const person = await world.user(named(before));
    await ask(before);
    await change('update users set email = ?, email_key = ? where id = ?', after, after, person.id);
    expect(await delivered()).toEqual([]);
    expect(await newest()).toMatchObject({ state: 'suppressed', note: 'the address changed' });
  });

  it('is not sent if the address now belongs to another account', async () => {
    const [shared, other] = [newAddress(), newAddress()];
    const person = await world.user(named(shared));
    await ask(shared);
    await change('update users set email = ?, email_key = ? where id = ?', other, other, person.id);
    await change('update users set user_name = ?, user_name_key = ? where id = ?', other, other, person.id);
    await world.user(named(shared));
    expect(await delivered()).toEqual([]);
  });

  it('for an address without an account is not sent once an account has it', async () => {
    const address = newAddress();
    await ask(address);
    await world.user(named(address));
    expect(await delivered()).toEqual([]);
    expect(await newest()).toMatchObject({ state: 'suppressed', note: 'an account has this address now' });
  });

  it('for an address without an account is sent only while sign-up is open', async () => {
    const [early, late] = [newAddress(), newAddress()];
    await ask(early);
    expect(await delivered()).toEqual([early]);
    await ask(late);
    await world.set({ signUp: 'provisioned_only' });
    expect(await delivered()).toEqual([]);
  });

  it('is not sent if the account was deactivated or erased before', async () => {
    const [first, second] = [await world.user(), await world.user()];
    await ask(first.userName);
    await ask(second.userName);
    await change('update users set active = false where id = ?', first.id);
    await change('delete from users where id = ?', second.id);
    expect(await delivered()).toEqual([]);
    expect(await newest()).toMatchObject({ state: 'suppressed', note: 'the user no longer exists' });
  });
});

describe('a code by SMS', () => {
  const phone = '+4915112345678';

  async function required(values: Partial<User>): Promise<User> {
    await world.set({ mfaPolicy: 'optional' });
    const user = await world.user({ phone, ...values });
    expectStatus(await world.enrol(page, user.userName, { mfa_method: 'sms' }), 'MFA_INITIATED');
    return user;
  }

  it('goes to the number of the factor', async () => {
    await required({});
    expect(await delivered()).toEqual([phone]);
  });

  it('is not sent once the factor was reset', async () => {
    const user = await required({});
    await change('delete from enrolments where user_id = ?', user.id);
    expect(await delivered()).toEqual([]);
    expect(await newest()).toMatchObject({ state: 'suppressed', note: 'the address changed' });
  });

  it('is not sent once the factor was reset, even if another user has the number', async () => {
    await world.set({ scimEnabled: true, scimAuthoritative: true });
    const user = await required({ provenance: 'scim' });
    const { giveFactor } = peopleOf(world);
    await change("delete from enrolments where user_id = ? and method = 'sms'", user.id);
    await giveFactor(user);
    const other = await world.user();
    await change('update enrolments set phone = ? where id = ?', phone, (await giveFactor(other, 'sms')).id);
    expect(await delivered()).toEqual([user.userName]);
  });

  it('goes to the number of a pending factor, even if another user has it on record', async () => {
    const user = await world.user({ phone: '+4915187654322' });
    const { giveFactor } = peopleOf(world);
    await change('update enrolments set phone = ? where id = ?', user.phone, (await giveFactor(user, 'sms')).id);
    await world.user({ phone });
    const { db, factorChanges } = world.app.services;
    const client = await db.reader().findOneOrFail(Client, { id: world.client.id }, { populate: ['project'] });
    await factorChanges.initiate({ client, actor: system }, { userid: user.id, method: 'sms', phone });
    expect(await delivered()).toEqual([phone]);
  });

  it('for a new login phone is sent only while that change is pending', async () => {
    const { visitOf } = peopleOf(world);
    const [user, other] = [await world.user(), await world.user()];
    const visits = [await visitOf(user), await visitOf(other)] as const;
    for (const visit of visits) expect((await visit.change('change-phone', { phone })).status).toBe(303);
    await visits[0].change('drop-phone');
    expect(await delivered()).toEqual([phone]);
    world.app.clock.turn(31);
    await visits[1].change('change-phone', { phone });
    await change('update phone_changes set phone = ? where user_id = ?', '+4915187654323', other.id);
    expect(await delivered()).toEqual([]);
  });

  it('is not sent once the directory changed the number', async () => {
    await world.set({ scimEnabled: true, scimAuthoritative: true });
    const user = await required({ provenance: 'scim' });
    await change("update users set phone = '+4915187654321' where id = ?", user.id);
    // The new-device notice is an email.
    expect(await delivered()).toEqual([user.userName]);
  });
});

describe('a notice', () => {
  it('goes to the user’s address at the time of the event', async () => {
    const [before, after] = [newAddress(), newAddress()];
    const person = await world.user(named(before));
    await world.register(await world.page(), before);
    world.app.clock.turn(60);
    await world.register(page, before);
    await change('update users set email = ?, email_key = ? where id = ?', after, after, person.id);
    expect(await delivered()).toEqual([before]);
  });

  it('by SMS goes to the old number after a change, unless another account has it now', async () => {
    const { visitOf } = peopleOf(world);
    const old = '+4915112345670';
    const leave = async (user: User, number: string) => {
      const visit = await visitOf(user);
      await visit.change('change-phone', { phone: number });
      await visit.change('verify-phone', { code: await world.codeFor(number) });
    };
    const numbers = async () => (await delivered()).filter((to) => to.startsWith('+'));
    const first = await world.user({ phone: old });
    await leave(first, '+4915187654324');
    expect(await numbers()).toEqual([old]);
    const second = await world.user({ phone: old });
    await leave(second, '+4915187654325');
    await world.user({ phone: old });
    expect(await numbers()).toEqual([]);
  });

  it('is not sent if another account has that address now', async () => {
    const [shared, other] = [newAddress(), newAddress()];
    const person = await world.user(named(shared));
    await world.register(await world.page(), shared);
    world.app.clock.turn(60);
    await world.register(page, shared);
    await change(
      'update users set email = ?, email_key = ?, user_name = ?, user_name_key = ? where id = ?',
      ...[other, other, other, other],
      person.id,
    );
    await world.user(named(shared));
    expect(await delivered()).toEqual([]);
  });
});

describe('the audit log of a sign-in code', () => {
  const eventsOf = () =>
    query(
      world.app.services.db.alone,
      sql<{ type: string; subject_id: string; reason: string | null }>`
        select type, subject_id, detail->>'reason' as reason from audit_log
        where project_id = ${world.project.id} and type like 'otp.%' order by id`,
    );

  it('records the request, and the send only if it happened', async () => {
    const person = await world.user();
    await ask(person.userName);
    expect(await eventsOf()).toMatchObject([{ type: 'otp.requested', subject_id: person.id }]);
    await world.app.runJobs();
    expect(await eventsOf()).toMatchObject([{ type: 'otp.requested' }, { type: 'otp.sent', subject_id: person.id }]);
  });

  it('records why it was not sent', async () => {
    await world.set({ signUp: 'provisioned_only' });
    const disabled = await world.user({ active: false });
    for (const address of [disabled.userName, newAddress()]) {
      await ask(address);
      await world.app.runJobs();
    }
    const suppressed = (await eventsOf()).filter(({ type }) => type === 'otp.suppressed');
    expect(suppressed).toMatchObject([
      { type: 'otp.suppressed', subject_id: disabled.id, reason: 'the user is not active' },
      { type: 'otp.suppressed', reason: 'no account has this address, and sign-up is closed' },
    ]);
  });
});

describe('sending a code', () => {
  it.each([
    { signUp: 'provisioned_only' },
    { signUp: 'domains', signUpDomains: ['example.net'], blocksDisposableMail: true },
  ] satisfies Partial<ProjectSettings>[])(
    'runs the same statements for known, unknown, disabled and renamed users: $signUp',
    async (settings) => {
      const [mailbox, alias] = [newAddress(), newAddress()];
      await world.set(settings);
      const userids = [
        (await world.user()).userName,
        (await world.user({ active: false })).userName,
        (await world.user({ ...named(alias), email: mailbox, emailKey: mailbox })).userName,
        newAddress(),
      ];
      const seen: string[][] = [];
      for (const userid of userids) {
        await ask(userid);
        const statements = await statementsDuring(() => world.app.runJobs());
        // Only the values written to the message's row differ.
        seen.push(statements.map((statement) => statement.replace(/^(update "messages" set ).*( where)/, '$1…$2')));
      }
      const [first, ...rest] = seen;
      expect(first?.length).toBeGreaterThan(5);
      for (const other of rest) expect(other).toEqual(first);
    },
  );
});
