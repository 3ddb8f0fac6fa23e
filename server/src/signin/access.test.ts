/** Access to applications at the sign-in endpoints (decisions/0371): the statuses of the contract stay, no code is given. */
import { beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import type { SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
let page: SigninPage;
let user: User;
let userid: string;

beforeEach(async () => {
  page = await world.page();
  userid = newAddress();
  user = await world.trusted(page, userid);
});

const services = () => world.app.services;
const assign = () => services().clients.update(world.client, { access: 'assigned' }, system);
const grant = () => services().accessRules.grant(world.client, { userId: user.id }, system);

async function authenticate() {
  await page.challenge();
  return page.step('authenticate', { userid }, 'use');
}

const codes = async () =>
  (await rows(services().db, 'select 1 from authorization_codes where project_id = ?', [world.project.id])).length;

describe('a user without access', () => {
  beforeEach(assign);

  it('gets no code on a trusted device, and an event gives the reason', async () => {
    expect(await authenticate()).toMatchObject(refusal('NO_ACCESS', 403));
    expect(await codes()).toBe(0);
    const [event] = await rows<{ detail: object }>(
      services().db,
      `select detail from audit_log where project_id = ? and type = 'signin.refused'`,
      [world.project.id],
    );
    expect(event?.detail).toMatchObject({ step: 'authenticate', fault: 'no-access' });
  });

  it('gets no code after a first sign-in by mail, and the reason only after the proof', async () => {
    const other = await world.page();
    const address = newAddress();
    await world.verifyAddress(other, address);
    const last = await other.step('verify-device', { userid: address }, 'registration');
    expect(last).toMatchObject(refusal('NO_ACCESS', 403));
    expect(await codes()).toBe(0);
  });

  it('gets a code as soon as access is granted, in the same sign-in', async () => {
    expect(await authenticate()).toMatchObject(refusal('NO_ACCESS', 403));
    await grant();
    expectStatus(await authenticate(), 'SUCCESS');
  });
});

it('an application that requires an organization gets no code by the browser SDK, whose sign-ins have none', async () => {
  await services().clients.update(world.client, { organizationRequired: true }, system);
  expect(await authenticate()).toMatchObject(refusal('NO_ACCESS', 403));
  expect(await codes()).toBe(0);
});

describe('a code of the browser SDK', () => {
  it('is not redeemed once access has ended', async () => {
    await assign();
    const { id } = await grant();
    const { code } = expectStatus(await authenticate(), 'SUCCESS');
    await services().accessRules.revoke(keyIn(world.project.id, id), system);
    expect((await world.exchange(code)).body).toMatchObject({ error: 'invalid_grant' });
  });
});
