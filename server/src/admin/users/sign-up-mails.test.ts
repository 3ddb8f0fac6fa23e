import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { atOnce } from '../../../test/at-once.ts';
import { Factories } from '../../../test/factories.ts';
import { untilLockWaits } from '../../../test/lock-waits.ts';
import { rows } from '../../../test/rows.ts';
import type { Client } from '../../domain/clients/client.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;
let client: Client;
let admin: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
});
afterAll(() => harness.close());

beforeEach(async () => {
  project = await make.project({ name: 'Acme', signUp: 'approval' });
  client = (await make.client(project)).client;
  admin = `admin-${project.id}@example.com`;
  await grant(admin, 'project_admin', project.id);
});

const owner = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
const grant = (email: string, role: 'owner' | 'project_admin' | 'project_viewer', projectId?: string) =>
  harness.services.admins.grantRole({ email, role, ...(projectId && { projectId }) }, owner);
const ask = () => harness.signUpRequestOf(client);
const run = () => harness.services.signUpNotices.send();
const set = (settings: { signUpMails: boolean }) => harness.services.projects.update(project.id, settings, system);
const mailsTo = async (recipient: string) =>
  (
    await rows(harness.services.db, `select 1 from messages where template = 'sign-up-requests' and recipient = ?`, [
      recipient,
    ])
  ).length;

describe('mails about requests to sign up', () => {
  it('are one for all requests that wait, and one for those of the next hour', async () => {
    await ask();
    await ask();
    await run();
    expect(await mailsTo(admin)).toBe(1);
    await run();
    await ask();
    harness.clock.turn(3590);
    await run();
    expect(await mailsTo(admin)).toBe(1);
    harness.clock.turn(10);
    await run();
    expect(await mailsTo(admin)).toBe(2);
    harness.clock.turn(3600);
    await run();
    expect(await mailsTo(admin)).toBe(2);
  });

  it('are not sent about requests that are decided or expired', async () => {
    await harness.services.signUpApprovals.decline(keyIn(project.id, await ask()), system);
    await harness.services.signUpApprovals.approve(keyIn(project.id, await ask()), system);
    await run();
    await ask();
    harness.clock.turn(30 * 24 * 3600);
    await run();
    expect(await mailsTo(admin)).toBe(0);
    // None of these runs used up the hour.
    await ask();
    await run();
    expect(await mailsTo(admin)).toBe(1);
  });

  it('are not sent while the project has switched them off', async () => {
    await set({ signUpMails: false });
    await ask();
    await run();
    expect(await mailsTo(admin)).toBe(0);
    await set({ signUpMails: true });
    await run();
    expect(await mailsTo(admin)).toBe(1);
  });

  it('go only to admins who may decide', async () => {
    const viewer = `viewer-${project.id}@example.com`;
    const other = await make.project({ name: 'Other' });
    const stranger = `admin-${other.id}@example.com`;
    const instanceOwner = `owner-${project.id}@example.com`;
    await grant(viewer, 'project_viewer', project.id);
    await grant(stranger, 'project_admin', other.id);
    await grant(instanceOwner, 'owner');
    await ask();
    await run();
    expect(await Promise.all([admin, viewer, stranger, instanceOwner].map(mailsTo))).toEqual([1, 0, 0, 0]);
    const { client: lonely } = await make.client(await make.project({ name: 'Lonely', signUp: 'approval' }));
    await harness.signUpRequestOf(lonely);
    await run();
    expect(await mailsTo(instanceOwner)).toBe(1);
  });

  it('are not sent about a request that an admin decides at the same time', async () => {
    const id = await ask();
    const { db } = harness.services;
    const { running } = await db.transaction(async (em) => {
      await execute(em, sql`update sign_up_requests set state = 'declined' where id = ${id}`);
      const started = run();
      await untilLockWaits(db, 1);
      return { running: started };
    });
    await running;
    expect(await mailsTo(admin)).toBe(0);
  });

  it('are sent once, even if several processes run the job at the same time', async () => {
    await ask();
    const runs = await atOnce(harness.services.db, 'sign_up_requests', [run, run, run]);
    expect(runs.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(await mailsTo(admin)).toBe(1);
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
