import { measure } from './harness/measure.ts';
import { cpuOf, type Print, printColumns, progress } from './harness/table.ts';
import type { Options } from './options.ts';
import { type CustomerCount, Customers } from './subjects/customers.ts';
import { type BenchedLatchkey, benchedLatchkey } from './subjects/latchkey.ts';

/** Maximum cost ratio of an operation with many organizations to one with few. */
const mostRatio = 1.25;

const few: CustomerCount = { organizations: 10, members: 1000, connections: 2 };
const many: CustomerCount = { organizations: 10_000, members: 1_000_000, connections: 2000 };

const workloads = {
  'home realm: challenge → connection': (of: Customers) => of.homeRealm(),
  'session → code of an organization → exchange → userinfo': (of: Customers) => of.signInAndAsk(),
  'SCIM filter by userName': (of: Customers) => of.filterByName(),
  'SCIM list of 10': (of: Customers) => of.listPage(),
  'SCIM PATCH': (of: Customers) => of.patchUser(),
  'console: list of organizations': (of: Customers) => of.listOrganizations(),
  'console: search by slug': (of: Customers) => of.listOrganizations((at) => `customer-${at}`),
  'console: an organization and its people': (of: Customers) => of.people(),
};

/** The same workloads with few and many organizations, in turn. `--population=N` sets the number of members. */
export async function organizations(print: Print, { only, plan, populations, quick }: Options): Promise<void> {
  const large = quick ? { organizations: 5, members: 50, connections: 2 } : sizeOf(populations);
  const own = await worldOf(quick ? large : few);
  const other = quick ? own : await worldOf(large);
  try {
    const lines: string[][] = [];
    for (const [workload, of] of Object.entries(workloads)) {
      if (only !== undefined && !workload.includes(only)) continue;
      progress(workload);
      const contenders = [own, other].map(({ latchkey, customers }) => ({
        subject: latchkey.subject,
        ...of(customers),
      }));
      const [before, after] = await measure(contenders, plan);
      if (!before || !after) continue;
      const ratio = cpuOf(after) / cpuOf(before);
      lines.push([
        workload,
        ...[cpuOf(before), cpuOf(after), before.databaseCpu, after.databaseCpu, ratio].map((one) => one.toFixed(2)),
        ratio <= mostRatio ? '✓' : '✗',
      ]);
    }
    const [from, to] = [few, large].map(({ organizations: all, members, connections }) =>
      [all, members, connections].map((one) => one.toLocaleString('en')).join(' / '),
    );
    const head = ['workload', 'CPU ms: few', 'many', 'database: few', 'many', 'many / few', `≤ ${mostRatio}`];
    printColumns(head, lines, print);
    print('');
    print(`Organizations / members / connections: ${from} → ${to}. CPU of server and database per operation.`);
  } finally {
    await own.latchkey.stop();
    if (other !== own) await other.latchkey.stop();
  }
}

/** `--population=N`: other numbers of members, in as many organizations. */
function sizeOf(populations: readonly number[]): CustomerCount {
  const members = populations.length === 1 ? (populations[0] ?? many.members) : many.members;
  return { ...many, members };
}

async function worldOf(count: CustomerCount): Promise<{ latchkey: BenchedLatchkey; customers: Customers }> {
  const latchkey = await benchedLatchkey();
  try {
    return { latchkey, customers: await Customers.fill(latchkey, count) };
  } catch (error) {
    await latchkey.stop();
    throw error;
  }
}
