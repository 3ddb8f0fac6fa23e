import type { NamedQuery } from '../src/domain/kernel/sql.ts';
import type { TestApp } from './build-app.ts';
import { rows } from './rows.ts';
import type { StepAnswer } from './signin-browser.ts';
import type { SigninWorld } from './signin-world.ts';

/** Runs `work` after the first statement of this label, and before the next one. */
export function onceRead(
  app: TestApp,
  label: string,
  work: () => Promise<unknown>,
): { count: number; release(): void } {
  const { alone } = app.services.db;
  const getKysely = alone.getKysely;
  const kysely = getKysely();
  let isDone = false;
  const seen = {
    /** Rows that the statement returned. */
    count: 0,
    release: () => {
      alone.getKysely = getKysely;
    },
  };
  alone.getKysely = () => ({
    getExecutor: () => kysely.getExecutor(),
    executeQuery: async <Row>(asked: NamedQuery) => {
      const found = await kysely.executeQuery<Row>(asked as never);
      // Further texts of a label have a number.
      if (!isDone && asked.name?.split('#')[0] === label) {
        isDone = true;
        seen.count = found.rows.length;
        await work();
      }
      return found;
    },
  });
  return seen;
}

/** Codes, sessions, events and users of sign-ins at this moment. */
export async function givenNow({ app }: SigninWorld): Promise<object[]> {
  const { db } = app.services;
  const now = app.clock.now();
  return [
    ...(await rows(db, `select 'code' as given from authorization_codes where created_at = ?`, [now])),
    ...(await rows(db, `select 'session' as given from sessions where auth_time = ?`, [now])),
    ...(await rows(db, `select 'event' as given from audit_log where type = 'user.signed_in' and at = ?`, [now])),
    ...(await rows(db, `select 'sign-in' as given from users where last_sign_in_at = ?`, [now])),
  ];
}

/** The response and the rows that it left in the world's project, without random values and times. */
export async function outcomeOf(world: SigninWorld, { httpStatus, text }: StepAnswer): Promise<unknown> {
  const { db } = world.app.services;
  const ordered = { ceremonies: 'id', credentials: 'id', users: 'id', audit_log: 'id', one_time_codes: 'id' };
  const given = { known_networks: 'user_id, network', authorization_codes: 'id', sessions: 'id' };
  const tables = Object.entries({ ...ordered, ...given });
  const left = await Promise.all(
    tables.map(([table, order]) =>
      rows(
        db,
        // The hour follows from last_sign_in_at, and not from how long ago that was. Moments are numbers of a sequence.
        `select '${table}' as name, to_jsonb(t) - '{sign_in_hour,moment,fresh_moment}'::text[] as row from ${table} t where project_id = ? order by ${order}`,
        [world.project.id],
      ),
    ),
  );
  const now = world.app.clock.now().getTime();
  const comparable = (json: string) =>
    json
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, (at) => `${new Date(at).getTime() - now} ms`)
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, 'id')
      .replaceAll(/p[A-Za-z0-9_-]{102}/g, 'cose')
      .replaceAll(/[\w-]{43}(?![\w-])/g, 'hash')
      .replaceAll(/"example(?:-[0-9a-f]{8})?"/g, '"slug"')
      .replaceAll(/"…[\w-]{4}"/g, '"hint"');
  return [httpStatus, JSON.parse(comparable(text)), JSON.parse(comparable(JSON.stringify(left)))];
}
