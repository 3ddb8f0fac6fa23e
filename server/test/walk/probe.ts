import { newDeviceKey } from '../signin-browser.ts';
import { absorb } from './absorb.ts';
import { Browser, post } from './browsers.ts';
import { type ClientModel, demand } from './model.ts';
import type { World } from './world.ts';

let networks = 0;

/**
 * Signs in with a known, an unknown and a deactivated address from separate networks: status and shape of the responses
 * must not differ (user enumeration).
 */
export async function probe(
  world: World,
  command: { app: number; client: number },
  log: (line: string) => void,
): Promise<void> {
  const client = world.clients()[command.client] as ClientModel;
  const { model } = world;
  if (model.isTainted) return;
  const known = [...model.users.values()].filter((row) => row['project_id'] === client.project.id && row['email']);
  const users = [known.find(({ active }) => active), known.find(({ active }) => !active)];
  const addresses = [`nobody-${model.step}@example.com`, ...users.flatMap((row) => (row ? [row['email']] : []))];
  const shapes: string[] = [];
  for (const userid of addresses) {
    if ((model.asked.get(userid) ?? 0) > 3) continue;
    model.asked.set(userid, (model.asked.get(userid) ?? 0) + 1);
    shapes.push(await shapeOf(world, command.app, client, userid));
  }
  absorb(model, await world.processes.log.read());
  log(`probe of ${addresses.join(', ')} for ${client.name}: ${[...new Set(shapes)].join(' | ')}`);
  demand(new Set(shapes).size <= 1, `responses differ by address: ${shapes.join(' | ')}`);
}

async function shapeOf(world: World, app: number, client: ClientModel, userid: string): Promise<string> {
  networks += 1;
  const browser = new Browser(9, `172.${16 + ((networks >> 16) & 15)}.${(networks >> 8) & 255}.${networks & 255}`);
  const { jkt } = await newDeviceKey();
  const page = { entry: 'sdk' as const, client, request: null };
  const ask = (step: string, body: object) =>
    post(world.process(app), step, JSON.stringify(body), page, browser, world.issuer);
  const { txn } = (await ask('challenge', { jkt })).json;
  const asked = await ask('authenticate', { txn, userid });
  const guessed = await ask('verify-email-otp', { txn, userid, otp: '999999' });
  return [asked, guessed]
    .map(
      ({ status, json }) => `${status} ${json['status']} ${json['error']?.code ?? ''} ${Object.keys(json).toSorted()}`,
    )
    .join('; ');
}
