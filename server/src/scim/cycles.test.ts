/**
 * Provisioning cycles of directories, replayed over HTTP: `test/directories/` has the requests of each, with the public
 * source of their shapes. After each phase the server must hold exactly the values that the directory has sent.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cycle } from '../../test/directories/cycle.ts';
import type { DirectoryClient, Person } from '../../test/directories/directory.ts';
import { entra, entraWithFlag } from '../../test/directories/entra.ts';
import { google, googleBySsosync } from '../../test/directories/google.ts';
import { jumpcloud } from '../../test/directories/jumpcloud.ts';
import { okta, oktaByPut } from '../../test/directories/okta.ts';
import { onelogin } from '../../test/directories/onelogin.ts';
import { ping } from '../../test/directories/ping.ts';
import { rippling } from '../../test/directories/rippling.ts';
import { type ScimApp, startScimApp } from '../../test/scim-app.ts';

let app: ScimApp;
let slow: ScimApp;
beforeAll(async () => {
  app = await startScimApp();
  slow = await startScimApp({ rateLimit: { perSecond: 1, burst: 4 } });
});
afterAll(async () => {
  await app.close();
  await slow.close();
});

const person = (number: number, givenName: string): Person => ({
  externalId: `0a21f0f2-8d2a-4f8e-bf98-00000000000${number}`,
  userName: `${givenName.toLowerCase()}@example.com`,
  givenName,
  familyName: "O'Neil-Müller",
  title: 'Engineer',
});

const ann = person(1, 'Ann');
const bob = person(2, 'Bob');
const cid = person(3, 'Cid');
const dan = person(4, 'Dan');
const crew = { externalId: '8aa1a0c0-c4c3-4bc0-b4a5-000000000001', name: 'Road Crew & Friends’ (Zürich) + 1%' };
const desk = { externalId: '8aa1a0c0-c4c3-4bc0-b4a5-000000000002', name: 'Help desk' };

/** Users and groups with members, as at the first synchronization. */
async function initialSync(cycle: Cycle) {
  await cycle.connect();
  await cycle.check('connection');
  const people = [await cycle.provision(ann), await cycle.provision(bob), await cycle.provision(cid)] as const;
  const [a, b, c] = people;
  const [team, other] = [await cycle.provisionTeam(crew), await cycle.provisionTeam(desk)];
  await cycle.join(team, a, b);
  await cycle.join(other, c);
  await cycle.check('initial sync');
  return { a, b, c, team, other };
}

const directories: readonly DirectoryClient[] = [
  ...[entra, entraWithFlag, okta, oktaByPut, onelogin, jumpcloud, google, googleBySsosync, ping, rippling],
];

describe.each(directories.map((client) => [client.name, client] as const))('%s', (_name, client) => {
  it('keeps users, access and groups through a whole cycle', async () => {
    const cycle = new Cycle(app, await app.project(), client);
    const { a, b, c, team, other } = await initialSync(cycle);

    await cycle.update(b, { title: 'Lead engineer' });
    const d = await cycle.provision(dan);
    await cycle.join(team, d);
    await cycle.check('incremental sync');

    await cycle.update(a, { userName: 'ann.smith@example.com', familyName: 'Smith' });
    await cycle.check('rename');

    await cycle.leave(team, b);
    await cycle.join(other, b);
    await cycle.check('move to another group');

    await cycle.setActive(c, false);
    await cycle.check('deactivation');
    await cycle.setActive(c, true);
    await cycle.check('reactivation');

    await cycle.remove(d);
    await cycle.check('deletion');
    const again = await cycle.provision(dan);
    expect(again.id === d.id).toBe(client.deleteUser === undefined);
    await cycle.check('the same externalId again');

    await cycle.renameTeam(team, 'Tour crew');
    await cycle.check('rename of a group');
    await cycle.removeTeam(other);
    await cycle.check('deletion of a group');
  });

  it('waits for Retry-After and loses nothing', async () => {
    const cycle = new Cycle(slow, await slow.project(), client);
    const { b, team, other } = await initialSync(cycle);
    await cycle.leave(team, b);
    await cycle.join(other, b);
    await cycle.check('the end');
    expect(cycle.delayed).toBeGreaterThan(5);
  });

  it('has a public source or a reason for each shape', () => {
    const { name: _, headers: __, sendsExternalId: ___, ...tasks } = client;
    for (const [task, { source, inferred }] of Object.entries(tasks)) {
      expect([task, source?.startsWith('https://') ?? (inferred !== undefined && inferred !== '')]).toEqual([
        task,
        true,
      ]);
    }
  });
});
