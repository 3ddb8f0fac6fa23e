import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { type Figures, measure } from './harness/measure.ts';
import { cpuOf, type Print, printTable, type Row } from './harness/table.ts';
import type { Options } from './options.ts';
import { type Application, Browser } from './subjects/browser.ts';
import { benchedLatchkey } from './subjects/latchkey.ts';

const redirectUri = 'https://app.example.com/callback';
/** CPU limit of a trusted-device sign-in, of server and database together, in milliseconds. */
const mostOfDevice = 2;

type Operation = Parameters<typeof measure>[0][0]['operation'];

/**
 * Sign-in by a trusted device and by a passkey. Both take two requests on an application's page: `challenge`, which for
 * the passkey has its options, and the step with the proof. Both end with a code, which is not exchanged. The hosted page
 * takes three, from `/authorize` to a session. No peer has them: the device has a limit, and the passkey is compared with it.
 */
export async function signIn(print: Print, options: Options): Promise<Row[]> {
  const latchkey = await benchedLatchkey();
  try {
    const { api, server, subject } = latchkey;
    const projectId = await api.createProject('Benchmark');
    const testMode = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
    await api.run(testMode, { input: { id: projectId, testMode: true } });
    const relatedOrigins = 'mutation ($input: UpdateClientInput!) { updateClient(input: $input) { id } }';
    const client = await api.createClient({ projectId, name: 'App', redirectUris: [redirectUri] });
    await api.run(relatedOrigins, { input: { id: client.clientId, relatedOrigins: true } });
    const application = { ...client, baseUrl: server.baseUrl, projectId, redirectUri };
    const ways = {
      'trusted device: challenge → code': signInBy(application, 'device', 'register', 'signIn'),
      'passkey: challenge → code': signInBy(application, 'passkey', 'registerPasskey', 'signInWithPasskey'),
      'trusted device, hosted page: authorize → session': signInBy(
        application,
        'hosted',
        'registerHosted',
        'signInHosted',
      ),
    };
    const rows: Row[] = [];
    for (const [workload, operation] of Object.entries(ways)) {
      const figures = await measure([{ subject, operation }], options.plan);
      const [byDevice] = rows;
      const places = workload.startsWith('passkey') && byDevice ? besideDevice(figures, byDevice.figures) : [];
      rows.push({ workload, figures, places: byDevice ? places : placesOf(figures) });
    }
    printTable(rows, print);
    return rows;
  } finally {
    await latchkey.stop();
  }
}

/** Signs in at each operation. Each worker has its own user, who registers at the first one. */
function signInBy(
  application: Application,
  name: string,
  register: 'register' | 'registerPasskey' | 'registerHosted',
  signIn: 'signIn' | 'signInWithPasskey' | 'signInHosted',
): Operation {
  const browsers = new Map<number, Browser>();
  return async (connection, worker) => {
    let browser = browsers.get(worker);
    if (!browser) {
      browser = new Browser(application, `${name}-${worker}@example.com`);
      await browser[register](connection);
      browsers.set(worker, browser);
    }
    await browser[signIn](connection);
  };
}

/** A device sign-in verifies one ES256 signature; a passkey sign-in may cost one more. */
function besideDevice([own]: Figures[], [device]: Figures[]): Row['places'] {
  if (!own || !device) return [];
  const proof = verifyMilliseconds();
  const beyond = own.serverCpu - device.serverCpu;
  const times = (own.serverCpu / device.serverCpu).toFixed(2);
  const text = `${times} × the server CPU of a trusted device: ${beyond.toFixed(2)} ms beyond it (at most the ${proof.toFixed(2)} ms of a signature)`;
  return [{ text, holds: beyond <= proof }];
}

function placesOf([own]: Figures[]): Row['places'] {
  if (!own) return [];
  const both = cpuOf(own);
  return [
    { text: `CPU of both is ${both.toFixed(2)} ms (at most ${mostOfDevice.toFixed(2)})`, holds: both <= mostOfDevice },
  ];
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
