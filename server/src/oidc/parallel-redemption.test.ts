/** Codes of one session and client that are redeemed at the same moment, before the first one recorded its participation. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { atOnce } from '../../test/at-once.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { query, sql } from '../domain/kernel/sql.ts';

let here: TestApp;
let there: TestApp;

beforeAll(async () => {
  here = await buildTestApp();
  there = await buildSibling(here);
});
afterAll(async () => {
  await there.close();
  await here.close();
});

it('returns tokens for every code, in two processes, and records one participation', async () => {
  const project = await here.make.project();
  const user = await here.make.user(project);
  const { client } = await here.make.client(project);
  // The race is one of a few instructions: some rounds have it.
  for (let round = 0; round < 15; round += 1) {
    const rp = new RelyingParty(here, client);
    const sessionId = await rp.signIn(user);
    const codes = [];
    for (let code = 0; code < 8; code += 1) codes.push(await rp.code());
    const other = new RelyingParty(there, client);
    const works = codes.map(
      (code, at) => () => (at % 2 === 0 ? rp : other).exchange(code, { code_verifier: rp.proof.verifier }),
    );
    const answers = await atOnce(here.services.db, 'participations', works);
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.status : answer.reason))).toEqual(
      codes.map(() => 200),
    );
    const recorded = sql`select from participations where session_id = ${sessionId}`;
    expect(await query(here.services.db.alone, recorded)).toHaveLength(1);
  }
});
