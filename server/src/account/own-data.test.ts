/** The file with a user's own data, on the account page. */
import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import type { TestApp } from '../../test/build-app.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import { AuditEvent } from '../domain/audit/audit-event.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { customUrn } from '../domain/users/custom/definition.ts';
import type { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

const world = SigninWorld.ofTests();
const { registeredUser, giveFactor, givePasskey, visitOf } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const grace = { kind: 'admin', id: 'grace', name: 'Grace Hopper', ip: '203.0.113.9', userAgent: 'theirs' } as const;

const recorded = ({ id }: User) =>
  app.services.db.reader().count(AuditEvent, { projectId: world.project.id, type: 'user.exported', subjectId: id });

async function fileOf(response: Response): Promise<Record<string, any>> {
  expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="account-data-[\dT-]+\.json"$/);
  return (await response.json()) as Record<string, any>;
}

describe('download of one’s own data', () => {
  it('contains what is stored about the person, and no secret', async () => {
    const { address, device, user } = await registeredUser();
    const factor = await giveFactor(user);
    const passkey = await givePasskey(user);
    const visit = await visitOf(user, ['hwk', 'user', 'pop', 'mfa'], passkey.id);
    const response = await visit.change('download-data');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect([response.headers.get('cache-control'), response.headers.get('x-content-type-options')]).toEqual([
      'no-store',
      'nosniff',
    ]);
    const text = await response.clone().text();
    const file = await fileOf(response);
    expect(file).toMatchObject({
      projectId: world.project.id,
      profile: { id: user.id, email: address },
      devices: [{ id: device.id }],
      passkeys: [{ id: passkey.id, credentialId: passkey.credentialId }],
      secondFactors: [{ id: factor.id, method: 'totp' }],
      sessions: expect.arrayContaining([expect.objectContaining({ id: visit.sessionId })]),
    });
    expect(file['eventsAbout'].map(({ type }: { type: string }) => type)).toContain('user.exported');
    expect(text).not.toMatch(/hash|sealed|secret"/i);
    expect(await recorded(user)).toBe(1);
  });

  it('contains no data of other people: names, origins and words of admins, messages and rows of other users', async () => {
    const { audit, customAttributes, db, userEdits } = app.services;
    const { user, visit } = await registeredUser();
    const other = await registeredUser();
    const projectId = world.project.id;
    await customAttributes.create(projectId, { name: 'desk', type: 'string', visibleTo: ['user'] } as never, system);
    await customAttributes.create(projectId, { name: 'risk', type: 'string' } as never, system);
    await userEdits.editCustom(projectId, user.id, { desk: 'Desk 7', risk: 'Risk 9' }, system);
    await db.transaction(async (em) => {
      const subject = { kind: 'user', id: user.id, name: user.userName };
      const detail = { reason: 'seen with Alan Turing' };
      audit.record(em, { type: 'user.updated', actor: grace, projectId, subject, detail });
      const by = { kind: 'user', id: user.id, name: user.userName } as const;
      const theirs = { kind: 'user', id: other.user.id, name: other.address };
      audit.record(em, { type: 'user.updated', actor: by, projectId, subject: theirs, detail: { to: other.address } });
    });
    const response = await visit.change('download-data');
    const text = await response.clone().text();
    const file = await fileOf(response);
    expect(file['profile'].attributes[customUrn]).toEqual({ desk: 'Desk 7' });
    expect(text).not.toMatch(/Grace Hopper|203\.0\.113\.9|Alan Turing|Risk 9/);
    expect(text).not.toContain(other.user.id);
    expect(text).not.toContain(other.address);
    const admin = file['eventsAbout'].find(({ actorKind }: { actorKind: string }) => actorKind === 'admin');
    expect(admin).toMatchObject({ type: 'user.updated', actorKind: 'admin' });
  });

  it('begins with the person who has the account now', async () => {
    const { accounts } = app.services;
    const { user, visit } = await registeredUser();
    await visit.change('rename-device', { id: 'x', name: 'x' });
    const change = (values: object) =>
      accounts.change(world.project.id, user.id, (now) => ({ ...valuesOf(now), ...values }), system);
    await change({ active: false });
    expect((await visit.change('download-data')).status).toBe(303);
    app.clock.turn(60);
    await change({ active: true, userName: 'successor@example.com' });
    app.clock.turn(60);
    const successor = await visitOf(user);
    const file = await fileOf(await successor.change('download-data'));
    expect([file['sessions'].length, file['devices'].length]).toEqual([1, 0]);
    const types = file['eventsAbout'].map(({ type }: { type: string }) => type);
    expect(types).toContain('user.exported');
    expect(types).not.toContain('user.signed_in');
    expect(types).not.toContain('user.created');
  });

  it('needs a fresh sign-in, the form’s token, and is limited', async () => {
    const { user, device, visit } = await registeredUser();
    const stale = await visitOf(user, ['swk'], device.id, 'device-key');
    expect(await stale.page()).toContain('To download your data, first confirm');
    const refused = await stale.change('download-data');
    expect([refused.status, (await refused.text()).includes('Confirm it’s you')]).toEqual([403, true]);
    expect((await visit.change('download-data', { csrf: 'x' })).status).toBe(403);
    expect(await recorded(user)).toBe(0);
    for (let at = 0; at < 5; at++) expect((await visit.change('download-data')).status).toBe(200);
    const late = await visit.change('download-data');
    expect([late.status, (await late.text()).includes('Too many downloads')]).toEqual([429, true]);
    expect(await recorded(user)).toBe(5);
    app.clock.turn(3601);
    expect((await visitOf(user).then((again) => again.change('download-data'))).status).toBe(200);
  });
});
