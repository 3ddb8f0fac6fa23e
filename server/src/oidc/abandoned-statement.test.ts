/** The connection to PostgreSQL is lost while it executes the redemption of a code. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Breakable } from '../../test/breakable.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { administer } from '../../test/global-setup.ts';
import { RelyingParty } from '../../test/relying-party.ts';

const connection = new Breakable();
let app: TestApp;
let direct: string;

beforeAll(async () => {
  app = await buildTestApp((url) => {
    direct = url;
    return connection.to(url);
  });
});
afterAll(async () => {
  await app.close();
});

it('after a 503, PostgreSQL ends the statement, and the code can be redeemed', async () => {
  const project = await app.make.project();
  const rp = new RelyingParty(app, (await app.make.client(project)).client);
  await rp.signIn(await app.make.user(project));
  await rp.tokens();
  const code = await rp.code();
  await administer(direct, async (admin) => {
    await admin.query('create table gate ()');
    await admin.query(`create function wait() returns trigger language plpgsql as $$ begin
      while not exists (select from gate) loop perform pg_sleep(0.02); end loop; return new; end $$`);
    await admin.query('create trigger wait before update on authorization_codes for each row execute function wait()');
    const working = async () => {
      const found = await admin.query(
        `select from pg_stat_activity where datname = current_database() and state = 'active' and query like '%redeemed%'
          and pid <> pg_backend_pid()`,
      );
      return found.rowCount;
    };
    const answer = rp.exchange(code);
    await expect.poll(working).toBe(1);
    await connection.close();
    expect((await answer).status).toBe(503);
    await expect.poll(working).toBe(0);
    await admin.query('insert into gate default values');
    await connection.open();
    await expect.poll(async () => (await rp.userInfo('x')).status).toBe(401);
    expect((await rp.exchange(code)).status).toBe(200);
  });
});
