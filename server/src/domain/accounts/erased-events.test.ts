/** The audit log after an erasure: the events of the user stay, with only ids. */
import { describe, expect, it } from 'vitest';
import { peopleOf } from '../../../test/account-visit.ts';
import { rows, tablesThatHold } from '../../../test/rows.ts';
import { newDeviceKey, SigninPage } from '../../../test/signin-browser.ts';
import { appOrigin, expectStatus, newAddress, SigninWorld } from '../../../test/signin-world.ts';
import { Device } from '../credentials/device.entity.ts';
import { type Actor, system } from '../kernel/actor.ts';
import { inProject } from '../kernel/scope.ts';
import type { User } from '../users/user.entity.ts';

const world = SigninWorld.ofTests();
const people = peopleOf(world);

const mark = { ip: '203.0.113.77', userAgent: 'Marked/1.0 (Windows) Firefox/140', name: 'Renamed by Ada' };
const origin = { 'User-Agent': mark.userAgent, 'X-Forwarded-For': mark.ip };
const anonymous: Actor = { kind: 'anonymous', ip: mark.ip, userAgent: mark.userAgent };

/** The page of a browser with a user agent and an address. */
class MarkedPage extends SigninPage {
  override post(step: string, body: unknown, headers: Record<string, string> = {}) {
    return super.post(step, body, { ...headers, ...origin });
  }
}

async function markedPage(): Promise<MarkedPage> {
  const now = () => Math.floor(world.app.clock.now().getTime() / 1000);
  return new MarkedPage(world.app.url, { origin: appOrigin, apiKey: world.apiKey }, await newDeviceKey(), now);
}

/** A user who has registered a browser. */
async function registered(address = newAddress()): Promise<{ user: User; device: Device }> {
  const { db } = world.app.services;
  expectStatus(await world.register(await markedPage(), address), 'SUCCESS');
  const user = (await world.findUser(address)) as User;
  const orderBy = { id: 'desc' } as const;
  return { user, device: await db.reader().findOneOrFail(Device, { user }, { orderBy }) };
}

/** Erases the user as a request for the project does. */
function erase({ id }: User, by: Actor = system): Promise<void> {
  const { project } = world;
  return inProject(project.id, () => world.app.services.accountAccess.erase(project.id, id, by));
}

const holding = () => tablesThatHold(world.app.services.db, Object.values(mark), world.project.id);

/** The events with this type, oldest first. */
function events(type: string) {
  return rows<Record<string, unknown>>(
    world.app.services.db,
    `select actor_kind, actor_id, actor_name, subject_kind, subject_id, subject_name, detail, ip, user_agent
     from audit_log where project_id = ? and type = ? order by id`,
    [world.project.id, type],
  );
}

describe('an erasure', () => {
  it('removes names and origins from the events of devices, passkeys and sessions', async () => {
    const { services } = world.app;
    const { user, device } = await registered();
    const visit = await people.visitOf(user, ['swk'], device.id);
    await visit.change('rename-device', { id: device.id, name: mark.name }, origin);
    const created = {
      ...{ credentialId: 'marked-passkey', publicKey: 'pQECAyYg', alg: -7, transports: [], signCount: 0 },
      ...{ aaguid: '00000000-0000-0000-0000-000000000000', attestedRoot: null, attestationFormat: 'none' },
      ...{ backupEligible: true, backedUp: true, userVerified: true },
    };
    await services.db.transaction(async (em) => {
      const passkey = await services.passkeys.register(em, { user, created, createdBy: 'mail-code', actor: anonymous });
      const owner = { projectId: world.project.id, userId: user.id };
      await services.devices.rename(em, owner, passkey.id, `${mark.name} at home`, system);
      await services.sessions.end(em, { id: visit.sessionId, project: world.project }, 'replaced', anonymous);
    });
    expect(await holding()).toContain('audit_log');
    await erase(user);
    expect(await holding()).toEqual([]);
    const bare = { actor_name: null, subject_name: null, ip: null, user_agent: null };
    const ofDevice = { ...bare, subject_kind: 'device', subject_id: device.id, detail: { userId: user.id } };
    expect(await events('device.registered')).toEqual([{ ...ofDevice, actor_kind: 'anonymous', actor_id: null }]);
    const renamed = { ...ofDevice, actor_kind: 'user', actor_id: user.id };
    expect(await events('device.renamed')).toEqual([renamed]);
    expect(await events('session.ended')).toMatchObject([
      { ...bare, subject_id: visit.sessionId, detail: { reason: 'replaced', userId: user.id } },
    ]);
  });

  it('removes them also from the events of a device whose row is gone', async () => {
    const { user, device } = await registered();
    await world.app.services.db.transaction((em) => em.nativeDelete(Device, { id: device.id }));
    await erase(user);
    expect(await holding()).toEqual([]);
  });

  it('removes address and origin only from the events of the sign-in that created the user', async () => {
    const [other, { user }] = [newAddress(), await registered()];
    const page = await markedPage();
    await page.challenge();
    await page.step('authenticate', { userid: other });
    await erase(user);
    const bare = { actor_kind: 'anonymous', subject_kind: null, subject_id: null, subject_name: null, detail: null };
    expect(await events('otp.requested')).toMatchObject([
      { ...bare, ip: null, user_agent: null },
      { actor_kind: 'anonymous', subject_kind: 'address', ip: mark.ip, user_agent: mark.userAgent },
    ]);
  });

  it('removes the origin of a user whose sign-in replaced the session of another one', async () => {
    const { project } = world;
    const { clock, services } = world.app;
    const [{ user }, other] = [await registered(), await people.registeredUser()];
    await services.db.transaction((em) => {
      const [authTime, freshAt] = [clock.now(), clock.now()];
      const currentSecret = other.visit.browser.cookies.get(`lk-session-${project.id}`);
      const signIn = { project, userId: user.id, amr: ['swk'], authTime, freshAt, currentSecret, actor: anonymous };
      return services.sessions.signIn(em, signIn);
    });
    await erase(user);
    expect(await holding()).toEqual([]);
    const by = { actor_kind: 'user', actor_id: user.id };
    expect(await events('session.ended')).toMatchObject([
      { ...by, subject_id: other.visit.sessionId, detail: { reason: 'replaced', userId: other.user.id } },
      { actor_kind: 'system', detail: { reason: 'deactivated', userId: user.id } },
    ]);
  });

  it('leaves the name and the origin of an admin who renamed a device, and the events of other users', async () => {
    const { services } = world.app;
    const other = await registered();
    const { user, device } = await registered();
    const admin: Actor = { kind: 'admin', id: '0b8f4c1e-0000-7000-8000-000000000001', name: 'Grace', ip: '192.0.2.9' };
    const owner = { projectId: world.project.id, userId: user.id };
    await services.db.transaction((em) => services.devices.rename(em, owner, device.id, mark.name, admin));
    await erase(user);
    expect(await events('device.renamed')).toMatchObject([
      { actor_name: 'Grace', ip: '192.0.2.9', subject_name: null, detail: { userId: user.id } },
    ]);
    expect(await events('device.registered')).toMatchObject([
      { subject_id: other.device.id, subject_name: 'Firefox on Windows', ip: mark.ip, user_agent: mark.userAgent },
      { subject_id: device.id, subject_name: null, ip: null, user_agent: null },
    ]);
  });
});
