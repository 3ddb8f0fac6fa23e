import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { type Figures, measure } from './harness/measure.ts';
import { cpuOf, type Print, printTable, type Row } from './harness/table.ts';
import type { Options } from './options.ts';
import { Browser } from './subjects/browser.ts';
import { benchedLatchkey } from './subjects/latchkey.ts';

const redirectUri = 'https://app.example.com/callback';
/** CPU limit of a trusted-device sign-in beyond the signatures, in milliseconds. */
const mostBeyond = 3;

/** Trusted-device sign-in: challenge → authenticate → code. No peer has it; the limit is relative to the signatures. */
export async function signIn(print: Print, options: Options): Promise<Row[]> {
  const latchkey = await benchedLatchkey();
  try {
    const { api, server, subject } = latchkey;
    const projectId = await api.createProject('Benchmark');
    const testMode = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
    await api.run(testMode, { input: { id: projectId, testMode: true } });
    const client = await api.createClient({ projectId, name: 'App', redirectUris: [redirectUri] });
    const application = { ...client, baseUrl: server.baseUrl, projectId, redirectUri };
    const browsers = new Map<number, Browser>();
    const operation = async (...[connection, worker]: Parameters<Parameters<typeof measure>[0][0]['operation']>) => {
      let browser = browsers.get(worker);
      if (!browser) {
        browser = new Browser(application, `person-${worker}@example.com`);
        await browser.register(connection);
        browsers.set(worker, browser);
      }
      await browser.signIn(connection);
    };
    const figures = await measure([{ subject, operation }], options.plan);
    const row: Row = { workload: 'trusted device: challenge → code', figures, places: placesOf(figures) };
    printTable([row], print);
    return [row];
  } finally {
    await latchkey.stop();
  }
}

function placesOf([own]: Figures[]): Row['places'] {
  if (!own) return [];
  const proof = verifyMilliseconds();
  const beyond = cpuOf(own) - proof;
  const text = `${beyond.toFixed(2)} ms beyond the ${proof.toFixed(2)} ms of verifying the proof (at most ${mostBeyond})`;
  return [{ text, holds: beyond <= mostBeyond }];
}

/** CPU of one ES256 signature on this machine. */
function verifyMilliseconds(): number {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const input = Buffer.alloc(600, 'x');
  const signature = sign('sha256', input, privateKey);
  const times = 500;
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) verify('sha256', input, publicKey, signature);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
}
