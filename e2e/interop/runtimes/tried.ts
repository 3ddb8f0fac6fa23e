import { readFileSync } from 'node:fs';
import { Person } from '../../chaos/support/person.ts';
import { adminCall, registerSample } from '../../sample/relying-party.ts';
import type { Latchkey } from '../../support/latchkey.ts';
import type { CheckInput } from './checks.ts';
import { NotInstalled } from './install.ts';
import { type Runtime, runtimes } from './runtimes.ts';

export type Row = [name: string, result: 'pass' | 'skipped' | 'fail', detail: string];

const origin = 'https://app.example.com';

/** Checks the server library in each runtime: exchanges a new code, and runs the published vectors. */
export async function* tryRuntimes({ adminToken, baseUrl }: Latchkey, projectId: string): AsyncGenerator<Row> {
  const call = adminCall(baseUrl, adminToken);
  const settings = await registerSample(call, { baseUrl, origin, projectId });
  const { clientId, secretKey, ...keys } = settings;
  // The sample's pages use PKCE; `Person` does not.
  await call('mutation ($input: UpdateClientInput!) { updateClient(input: $input) { id } }', {
    input: { id: clientId, pkceRequired: false },
  });
  const vectors = JSON.parse(
    readFileSync(new URL('../../../shared/contracts/vectors/delegation.json', import.meta.url), 'utf8'),
  ) as CheckInput['vectors'];
  const person = new Person(
    { ...settings, issuer: baseUrl, redirectUri: `${origin}/callback` },
    'runtimes@example.com',
  );
  await person.signIn();
  for (const runtime of runtimes) {
    const code = await person.code();
    const input = { issuer: baseUrl, clientId, apiKey: secretKey, sub: person.sub ?? '', code, keys, vectors };
    yield await tried(runtime, input);
  }
}

async function tried({ check, name }: Runtime, input: CheckInput): Promise<Row> {
  try {
    return [name, 'pass', await check(input)];
  } catch (error) {
    const { message } = error as Error;
    return [name, error instanceof NotInstalled ? 'skipped' : 'fail', message.replace(/\s+/g, ' ').slice(0, 400)];
  }
}
