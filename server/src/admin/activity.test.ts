import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminRoom, openAdminRoom } from '../../test/admin-room.ts';
import { system } from '../domain/kernel/actor.ts';

const day = 24 * 3600;
let room: AdminRoom;
let projectId: string;

beforeAll(async () => {
  room = await openAdminRoom();
  projectId = (await room.services.projects.create({ name: 'Acme' }, system)).id;
});
afterAll(() => room.close());

async function record(type: string, subjectId: string, detail?: Record<string, unknown>, project = projectId) {
  const { audit, db } = room.services;
  const subject = { kind: 'user', id: subjectId };
  await db.transaction(async (em) => {
    audit.record(em, { type, actor: system, projectId: project, subject, ...(detail ? { detail } : {}) });
  });
}

const ask = (days: number) =>
  room.call(
    `query ($id: ID!, $days: Int!) { activity(projectId: $id, days: $days) {
      day signIns signInsOnKnownDevices activeUsers codesSent refused } }`,
    { id: projectId, days },
  );

describe('Query.activity', () => {
  it('counts by day: sign-ins, known devices, different users, codes, refusals', async () => {
    expect((await ask(28)).data.activity).toEqual([]);
    await record('user.signed_in', 'ada', { amr: ['swk', 'otp'] });
    await record('user.signed_in', 'ada', { amr: ['swk'] });
    await record('user.signed_in', 'grace', { amr: ['swk', 'otp', 'mfa'] });
    await record('otp.sent', 'ada');
    await record('otp.rejected', 'ada');
    await record('user.updated', 'ada');
    const other = (await room.services.projects.create({ name: 'Other' }, system)).id;
    await record('user.signed_in', 'stranger', { amr: ['swk'] }, other);
    room.clock.turn(day);
    await record('mfa.rejected', 'grace');
    await record('device.proof_rejected', 'grace');
    expect((await ask(28)).data.activity).toEqual([
      { day: '2026-03-01', signIns: 3, signInsOnKnownDevices: 1, activeUsers: 2, codesSent: 1, refused: 1 },
      { day: '2026-03-02', signIns: 0, signInsOnKnownDevices: 0, activeUsers: 0, codesSent: 0, refused: 2 },
    ]);
  });

  it('goes back as far as it is asked, whole days', async () => {
    const days = async (count: number) => (await ask(count)).data.activity.map((one: any) => one.day);
    expect(await days(1)).toEqual(['2026-03-02']);
    expect(await days(2)).toEqual(['2026-03-01', '2026-03-02']);
    expect((await ask(0)).code).toBe('invalid');
    expect((await ask(63)).code).toBe('invalid');
  });
});
