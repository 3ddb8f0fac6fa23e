/** Rows of recovery grants: whose code is accepted, and how long. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { rows } from '../../../test/rows.ts';
import type { Project } from '../projects/project.entity.ts';
import type { User } from '../users/user.entity.ts';
import type { RecoveryGrants } from './recovery-grants.ts';

let app: TestApp;
let grants: RecoveryGrants;
let project: Project;
let user: User;
const waitSeconds = 3600;

beforeAll(async () => {
  app = await buildTestApp();
  grants = app.services.mfa.recoveryGrants;
  project = await app.make.project();
});
afterAll(() => app.close());
beforeEach(async () => {
  user = await app.make.user(project);
});

const issue = (to = user) => app.services.db.transaction((em) => grants.issue(em, to, 'Lost the key.', waitSeconds));
const use = (code: string, by = user) => app.services.db.transaction((em) => grants.use(em, by, code));
const open = () => app.services.db.transaction((em) => grants.open(em, user));

describe('a recovery grant', () => {
  it('ends the open one of its user, and no other', async () => {
    const other = await app.make.user(project);
    const theirs = await issue(other);
    const first = await issue();
    const second = await issue();
    expect((await open())?.id).toBe(second.grant.id);
    app.clock.turn(waitSeconds);
    expect(await use(first.code)).toBeNull();
    expect(await use(second.code)).toBe(second.grant.id);
    expect(await use(theirs.code, other)).toBe(theirs.grant.id);
  });

  it('is redeemed by its own code, by its user, once, after its waiting time and for a day', async () => {
    const { code, grant } = await issue();
    expect(await use(code)).toBeNull();
    app.clock.turn(waitSeconds);
    expect(await use('aaaa-bbbb-cccc-dddd')).toBeNull();
    expect(await use(code, await app.make.user(project))).toBeNull();
    expect([await use(code.toUpperCase()), await use(code)]).toEqual([grant.id, null]);
    const late = await issue();
    const [used] = await rows<{ ended_at: unknown }>(
      app.services.db,
      'select ended_at from recovery_grants where id = ?',
      [grant.id],
    );
    expect(used?.ended_at).toBeNull();
    app.clock.turn(waitSeconds + 24 * 3600);
    expect(await use(late.code)).toBeNull();
  });
});
