/** An international domain has two forms (RFC 5890 §2.3.2.1). Browsers send the ASCII one, whichever a user types. */
import { describe, expect, it } from 'vitest';
import { claimsOf, expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import { User } from '../domain/users/user.entity.ts';
import { type UserRecord, valuesOf } from '../domain/users/user-record.ts';

const world = SigninWorld.ofTests();
const directory = { kind: 'scim' as const, id: 'okta' };

/** One mailbox in both forms. */
function newMailbox(): { unicode: string; ascii: string } {
  const [local = ''] = newAddress().split('@');
  return { unicode: `${local}@bücher.example`, ascii: `${local}@xn--bcher-kva.example` };
}

/** A directory's user with this login address. */
function provision(email: string, userName = email) {
  const emails = [{ value: email, primary: true }];
  const names = { externalId: null, displayName: null, givenName: null, familyName: null };
  const values = { userName, ...names, active: true, attributes: { emails } };
  return world.app.services.admissions.provision(world.project.id, values, directory);
}

/** Signs in with a mail code, which goes to `mailbox`; returns the user's id. */
async function signIn(userid: string, mailbox: string): Promise<string> {
  const page = await world.page();
  await page.challenge();
  expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
  const otp = await world.codeFor(mailbox);
  expectStatus(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
  const { code } = expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
  const { body } = await world.exchange(code);
  return String(claimsOf(body['id_token'])['sub']);
}

describe('an address with an international domain', () => {
  it('belongs to one user in both forms, who can sign up with either', async () => {
    const { ascii, unicode } = newMailbox();
    const id = await signIn(ascii, unicode);
    world.app.clock.turn(3600);
    expect(await signIn(unicode, unicode)).toBe(id);
    expect(await problemOf(provision(unicode))).toMatchObject({ code: 'taken' });
    expect(await world.app.services.db.reader().count(User, { project: world.project.id })).toBe(1);
  });

  it('is found in the form that the directory does not use, also as a user name', async () => {
    const [one, other, named] = [newMailbox(), newMailbox(), newMailbox()];
    const inUnicode = await provision(one.unicode);
    expect(await signIn(one.ascii, one.unicode)).toBe(inUnicode.id);
    const inAscii = await provision(other.ascii);
    expect(await signIn(other.unicode, other.ascii)).toBe(inAscii.id);
    const mailbox = newAddress();
    const byName = await provision(mailbox, named.ascii);
    expect(await signIn(named.unicode, mailbox)).toBe(byName.id);
  });

  it('shares the hourly limit of codes between both forms', async () => {
    const { ascii, unicode } = newMailbox();
    const statuses: number[] = [];
    for (const userid of [ascii, unicode, ascii, unicode, ascii, unicode]) {
      const page = await world.page();
      await page.challenge();
      statuses.push((await page.step('authenticate', { userid })).httpStatus);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });
});

describe('a user whose key has the domain in ASCII, from the release before', () => {
  it('is found in both forms, and can be changed where another user has the other form', async () => {
    const { ascii, unicode } = newMailbox();
    const early = await provision(ascii);
    const { accounts, db } = world.app.services;
    await db.transaction((em) => em.execute('update users set email_key = ? where id = ?', [ascii, early.id]));
    expect(await signIn(unicode, ascii)).toBe(early.id);
    const twin = await provision(unicode);
    world.app.clock.turn(3600);
    expect(await signIn(ascii, unicode)).toBe(twin.id);
    for (const change of [{ displayName: 'Anna' }, { active: false }]) {
      const edited = (user: UserRecord) => ({ ...valuesOf(user), ...change });
      expect(await accounts.change(world.project.id, early.id, edited, system)).toMatchObject(change);
    }
  });
});
