import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Person } from '../../chaos/support/person.ts';
import { adminCall, registerSample } from '../../sample/relying-party.ts';
import type { Latchkey } from '../../support/latchkey.ts';
import { fault, goProgram, lacksGo, python } from '../../support/toolchains.ts';
import type { Row } from '../runtimes/tried.ts';

const run = promisify(execFile);
const shared = fileURLToPath(new URL('../../../shared', import.meta.url));
const recipes = join(shared, 'recipes');
const origin = 'https://app.example.com';

const languages: { name: string; lacks(): string | null; check(env: NodeJS.ProcessEnv): Promise<string> }[] = [
  {
    name: 'Delegation in Python',
    lacks: () => fault(python, ['-c', 'import cryptography']),
    check: async (env) => (await run(python, [join(import.meta.dirname, 'check.py')], { env })).stdout,
  },
  {
    name: 'Delegation in Go',
    lacks: () => lacksGo('golang.org/x/crypto/curve25519'),
    check: async (env) => {
      const program = goProgram(join(recipes, 'delegation.go'), join(import.meta.dirname, 'check.go'));
      const { stdout } = await run(program, { env });
      rmSync(dirname(program), { recursive: true });
      return stdout;
    },
  },
];

/** The recipes of delegation: the published vectors, and a call of the running service. */
export async function* tryDelegation({ adminToken, baseUrl }: Latchkey, projectId: string): AsyncGenerator<Row> {
  const settings = await registerSample(adminCall(baseUrl, adminToken), { baseUrl, origin, projectId });
  const USERID = 'delegation@example.com';
  await new Person({ ...settings, issuer: baseUrl, redirectUri: `${origin}/callback` }, USERID).signInHosted();
  const env = {
    ...process.env,
    PYTHONDONTWRITEBYTECODE: '1',
    RECIPES: recipes,
    VECTORS: join(shared, 'contracts/vectors/delegation.json'),
    USERID,
    LATCHKEY_BASE_URL: baseUrl,
    LATCHKEY_SP_ID: settings.clientId,
    LATCHKEY_API_KEY: settings.secretKey,
    SP_ED25519_PRIVATE_KEY_PEM: settings.spSigningKey,
    SP_X25519_PRIVATE_KEY_PEM: settings.spEncryptionKey,
    IDP_ED25519_PUBLIC_KEY_PEM: settings.idpVerifyKey,
    IDP_X25519_PUBLIC_KEY_PEM: settings.idpEncryptionKey,
  };
  for (const { check, lacks, name } of languages) {
    const lacking = lacks();
    if (lacking !== null) yield [name, 'skipped', lacking];
    else
      yield await check(env).then<Row, Row>(
        (detail) => [name, 'pass', detail.trim()],
        (error: Error) => [name, 'fail', error.message.replace(/\s+/g, ' ').slice(-400)],
      );
  }
}
