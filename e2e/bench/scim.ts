import { type Contender, type Figures, measure, type Workload } from './harness/measure.ts';
import { lessCpu, moreOften } from './harness/place.ts';
import { type Print, printTable, progress, type Row } from './harness/table.ts';
import type { Options } from './options.ts';
import { type Directory, filterByName, listed, listPage, patchUser, postUser } from './subjects/directory.ts';
import { benchedLatchkey } from './subjects/latchkey.ts';
import { type Peer, startPeer } from './subjects/peer.ts';
import { populate } from './subjects/population.ts';

const peerNames = ['saml-jackson', 'better-auth-scim', 'scimmy'] as const;

/** Typical directory operations, at 10,000 and 100,000 users. */
export async function scim(print: Print, options: Options): Promise<Row[]> {
  const rows: Row[] = [];
  for (const population of options.populations) rows.push(...(await contest(population, options)));
  printTable(rows, print);
  return rows;
}

async function contest(population: number, options: Options): Promise<Row[]> {
  const latchkey = await benchedLatchkey();
  const peers: { peer: Peer; directory: Directory }[] = [];
  const rows: Row[] = [];
  try {
    // The limit is 500 requests per second, project and process: with a directory for each connection, none reaches it.
    const directories: Directory[] = [];
    for (let number = 1; number <= options.plan.concurrency; number += 1) {
      const projectId = await latchkey.api.createProject(`Directory ${number}`);
      const token = await latchkey.api.issueScimToken(projectId);
      await populate(latchkey.server, projectId, population);
      directories.push({ path: `/v1/scim/${projectId}`, token, population });
    }
    for (const name of peerNames) {
      if (!options.peersNamed(name)) continue;
      const database = name === 'scimmy' ? undefined : latchkey.peersDatabase();
      const env = { POPULATION: String(population) };
      const peer = await startPeer(name, options.plan.concurrency, database, env);
      if (peer.scim) peers.push({ peer, directory: { ...peer.scim, population } });
    }
    const at = population.toLocaleString('en');
    for (const [name, workloadOf] of [
      ['filter by userName', filterByName],
      [`list of ${listed}`, listPage],
      ['PATCH', patchUser],
      ['POST', postUser],
    ] as const) {
      const workload = `SCIM ${name}, ${at} users`;
      if (options.only !== undefined && !workload.includes(options.only)) continue;
      const workloads = directories.map(workloadOf);
      const own: Workload['operation'] = (connection, worker, count) =>
        workloads[worker % workloads.length]?.operation(connection, worker, count) as Promise<void>;
      const contenders: Contender[] = [
        { subject: latchkey.subject, operation: own },
        ...peers.map(({ peer, directory }) => ({ subject: peer.subject, ...workloadOf(directory) })),
      ];
      progress(workload);
      const figures = await measure(contenders, options.plan);
      rows.push({ workload, figures, places: placesOf(workload, figures) });
    }
    return rows;
  } finally {
    for (const { peer } of peers) await peer.stop();
    await latchkey.stop();
  }
}

function placesOf(workload: string, figures: Figures[]): Row['places'] {
  const isList = workload.includes('list');
  return [
    ...lessCpu(figures, 'saml-jackson', isList ? 1 : 1 / 1.5),
    ...moreOften(figures, 'saml-jackson', 1.5),
    ...(isList ? moreOften(figures, 'scimmy', 1) : moreOften(figures, 'better-auth-scim', 5)),
  ];
}
