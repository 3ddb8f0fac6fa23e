import { randomBytes } from 'node:crypto';
import type { Latchkey } from '../../support/latchkey.ts';
import { type Experiment, evaluate, pause, until } from '../experiment.ts';
import { type App, Person } from '../support/person.ts';
import { load, World } from '../support/world.ts';

const offSeconds = 300;

export const clocks: Experiment = {
  name: 'clocks',
  done: 'two more processes start with clocks 5 minutes ahead and behind; then the clock of a running one jumps by 5 minutes both ways',
  passes:
    'a process with a wrong clock becomes not ready within 60 s and names its clock, as does doctor; codes, tokens and devices of processes that started with a wrong clock work at their siblings; no wrong response',
  async run({ log }) {
    const world = await World.create();
    try {
      const first = await world.start({}, { adjustable: true });
      const app = await world.app();
      const under = load((await world.people(app, 2)).map((person) => () => person.signIn()));
      const faults: (string | false)[] = [];
      for (const aheadSeconds of [offSeconds, -offSeconds]) {
        const sibling = await world.start({}, { adjustable: true, aheadSeconds });
        const isOff = await until(async () => (await readiness(sibling)).isOff, 60_000, 500);
        faults.push(!isOff && `started ${aheadSeconds} s ahead: ${JSON.stringify(await readiness(sibling))}`);
        const person = new Person(app, `${randomBytes(6).toString('hex')}@example.com`, sibling.ownUrl);
        faults.push(...(await acrossProcesses(app, person, sibling, first)));
        const { Clock } = await world.doctor();
        faults.push(Clock?.level === 'ok' && `doctor: ${Clock.summary}`);
        log(`${aheadSeconds} s ahead from the start: ${(await readiness(sibling)).body}`);
        await sibling.stop();
      }
      await under.stop();
      const jumps: number[] = [];
      for (const jump of [offSeconds, -offSeconds]) {
        const startedAt = performance.now();
        await first.turn(jump);
        const isOff = await until(async () => (await readiness(first)).isOff, 60_000, 500);
        faults.push(!isOff && `stayed ready after a jump of ${jump} s`);
        jumps.push((performance.now() - startedAt) / 1000);
        await first.turn(-jump);
        const isBack = await until(async () => (await readiness(first)).isReady, 60_000, 500);
        faults.push(!isBack && `not ready again after a jump of ${jump} s back`);
        await pause(500);
      }
      const { results } = under;
      return evaluate(
        `not ready ${jumps.map((seconds) => `${seconds.toFixed(0)} s`).join(' and ')} after a jump; ${results.good} sign-ins meanwhile, ${results.refused.length} refused, ${results.wrong.length} wrong`,
        [...faults, ...results.refused.map(({ why }) => why), ...results.wrong],
      );
    } finally {
      await world.close();
    }
  },
};

async function readiness({ managementUrl }: Latchkey) {
  const answer = await fetch(`${managementUrl}/health/ready`);
  const body = await answer.text();
  return { isReady: answer.status === 200, isOff: answer.status === 503 && body.includes('clock'), body };
}

/** A code of one process redeemed at the other, its tokens and its device used there. */
async function acrossProcesses(app: App, person: Person, from: Latchkey, to: Latchkey): Promise<string[]> {
  const faults: string[] = [];
  await person.signIn();
  for (const [name, token] of [
    ['ID token', person.idToken],
    ['access token', person.accessToken],
  ] as const) {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const aheadSeconds = claims.iat - Date.now() / 1000;
    if (Math.abs(aheadSeconds) > 5) faults.push(`${name} issued ${aheadSeconds.toFixed(0)} s ahead`);
    if (claims.exp * 1000 < Date.now()) faults.push(`${name} had expired when it was issued`);
  }
  const info = await fetch(`${to.ownUrl}/userinfo`, { headers: { Authorization: `Bearer ${person.accessToken}` } });
  if (info.status !== 200) faults.push(`access token refused by the sibling: ${info.status}`);
  const code = await person.code();
  const redeemed = await fetch(`${to.ownUrl}/oauth2/token`, {
    method: 'POST',
    headers: { 'X-Api-Key': app.secretKey },
    body: new URLSearchParams({ grant_type: 'authorization_code', code, client_id: app.clientId }),
  });
  if (redeemed.status !== 200) faults.push(`code refused by the sibling: ${redeemed.status} ${await redeemed.text()}`);
  person.base = to.ownUrl;
  await person.signIn();
  person.base = from.ownUrl;
  await person.signIn();
  return faults;
}
