import { type Experiment, evaluate, pause } from '../experiment.ts';
import { World } from '../support/world.ts';

const workers = 8;
const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];

export const scimImport: Experiment = {
  name: 'scim-import-killed',
  done: 'kill -9 of the server, three times, during a SCIM import of 10,000 users',
  passes: 'every acknowledged 201 persists; the repeated import converges to each user once',
  async run({ scale, log }) {
    const total = Math.max(300, Math.round(10_000 * scale));
    const world = await World.create();
    try {
      await world.start();
      const { port } = new URL(world.issuer);
      const projectId = await world.admin.createProject('Import');
      const url = `${world.issuer}/v1/scim/${projectId}/Users`;
      const headers = {
        Authorization: `Bearer ${await world.admin.issueScimToken(projectId)}`,
        'Content-Type': 'application/scim+json',
      };
      const acknowledged = new Map<string, string>();
      const wrong: string[] = [];
      const name = (index: number) => `user-${index}@example.com`;

      const post = async (index: number): Promise<boolean> => {
        const body = JSON.stringify({ schemas, userName: name(index), externalId: `x-${index}` });
        const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined);
        if (!answer) return false;
        const json = (await answer.json().catch(() => undefined)) as { id?: string } | undefined;
        if (answer.status === 201 && json?.id !== undefined) acknowledged.set(name(index), json.id);
        else if (answer.status !== 409 && answer.status !== 503 && answer.status !== 429) {
          wrong.push(`POST ${name(index)}: ${answer.status}`);
        }
        return answer.status === 201 || answer.status === 409;
      };

      // Repeat the import until every user is acknowledged.
      const missing = new Set(Array.from({ length: total }, (_, index) => index));
      let kills = 0;
      const killAt = [0.2, 0.5, 0.8].map((share) => Math.round(total * share));
      const run = async (): Promise<void> => {
        const list = [...missing];
        const worker = async () => {
          for (let index = list.pop(); index !== undefined; index = list.pop()) {
            if (await post(index)) missing.delete(index);
            else await pause(50);
          }
        };
        await Promise.all(Array.from({ length: workers }, worker));
      };
      const importing = (async () => {
        while (missing.size > 0) await run();
      })();
      for (const at of killAt) {
        while (total - missing.size < at) await pause(5);
        await world.processes.at(-1)?.kill();
        kills += 1;
        log(`killed with ${acknowledged.size} acknowledged`);
        await world.start({ PORT: port });
      }
      await importing;

      const rows = await world.postgres.query<{ id: string; user_name: string }>(
        `select id, user_name from users where project_id = '${projectId}'`,
      );
      const there = new Map(rows.map((row) => [row.user_name, row.id]));
      const lost = [...acknowledged].filter(([userName, id]) => there.get(userName) !== id);
      const list = (await (await fetch(`${url}?count=0`, { headers })).json()) as { totalResults?: number };
      const [sample] = acknowledged;
      const one = await fetch(`${url}/${sample?.[1]}`, { headers });
      return evaluate(
        `${acknowledged.size} acknowledged over ${kills} kills, ${lost.length} lost; ${rows.length} users after the rerun`,
        [
          lost.length > 0 && `lost: ${lost.slice(0, 3).join('; ')}`,
          rows.length !== total && `${rows.length} users instead of ${total}`,
          list.totalResults !== total && `totalResults is ${list.totalResults}`,
          one.status !== 200 && `GET of one: ${one.status}`,
          ...wrong,
        ],
      );
    } finally {
      await world.close();
    }
  },
};
