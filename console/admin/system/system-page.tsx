import { Badge, Text } from '@mantine/core';
import { useQuery } from '../api.ts';
import { System, type SystemQuery } from '../generated/operations.ts';
import { senderKinds } from '../messages/labels.ts';
import { count } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { Time } from '../ui/time.tsx';
import { jobNames } from './job-names.ts';
import { bytes, levels } from './levels.ts';

type Status = SystemQuery['system'];
type Process = Status['processes'][number];
type Job = Status['jobs'][number];

const checkColumns: readonly Column<Status['checks'][number]>[] = [
  { header: 'Check', isName: true, width: '26%', cell: ({ name }) => name },
  {
    header: 'Status',
    isCorner: true,
    cell: ({ level }) => <Badge color={levels[level].tone}>{levels[level].text}</Badge>,
  },
  {
    header: 'Result',
    isPlain: true,
    width: '60%',
    cell: ({ summary, advice }) => (
      <div>
        <Text c="var(--text)">{summary}</Text>
        {advice && <Text>{advice}</Text>}
      </div>
    ),
  },
];

const processColumns: readonly Column<Process>[] = [
  { header: 'Process', isName: true, width: '26%', cell: ({ host, pid }) => `${host}, ${pid}` },
  { header: 'Version', cell: ({ version, nodeVersion }) => `${version} on Node ${nodeVersion}` },
  { header: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { header: 'Last heartbeat', cell: ({ seenAt }) => <Time at={seenAt} /> },
  {
    header: 'ID token signing',
    align: 'end',
    cell: ({ signMicroseconds }) => (signMicroseconds == null ? '–' : `${(signMicroseconds / 1000).toFixed(1)} ms`),
  },
  { header: 'Clock', align: 'end', cell: ({ clockSkewMs }) => `${clockSkewMs > 0 ? '+' : ''}${clockSkewMs} ms` },
];

const jobColumns: readonly Column<Job>[] = [
  { header: 'Job', isName: true, width: '36%', cell: ({ name }) => jobNames[name] ?? name },
  { header: 'Ready', align: 'end', cell: ({ waiting }) => count.format(waiting) },
  { header: 'Scheduled', align: 'end', cell: ({ deferred }) => count.format(deferred) },
  { header: 'Running', align: 'end', cell: ({ active }) => count.format(active) },
  {
    header: 'Failed in 24 h',
    align: 'end',
    cell: ({ failed }) => (failed > 0 ? <Badge color="bad">{count.format(failed)}</Badge> : '0'),
  },
];

/** Health of the instance: checks, processes, jobs. */
export function Component() {
  const { data, failure, reload } = useQuery(System, {}, { everySeconds: 10 });
  const status = data?.system;
  const overall = status && levels[status.level];
  return (
    <Page
      title="System"
      lead="Health of this instance, updated every 10 seconds"
      badges={overall && <Badge color={overall.tone}>{overall.text}</Badge>}
    >
      {failure && !status ? (
        <LoadError failure={failure} subject="system status" retry={reload} />
      ) : (
        <>
          <Section flush title="Checks">
            <DataTable label="Checks" columns={checkColumns} rows={status?.checks} keyOf={({ name }) => name} />
          </Section>
          <Section flush title="Processes" lead="Servers sharing this database; heartbeat every 20 seconds">
            <DataTable
              label="Processes"
              columns={processColumns}
              rows={status?.processes}
              skeletonRows={1}
              empty={<Empty icon="server" title="No heartbeats" />}
            />
          </Section>
          <Section title="Database and messages">
            {status ? <Database status={status} /> : <LinesSkeleton lines={5} />}
          </Section>
          <Section flush title="Jobs" lead="Background work; up to 30 seconds old">
            <DataTable
              label="Jobs"
              columns={jobColumns}
              rows={status?.jobs}
              keyOf={({ name }) => name}
              skeletonRows={5}
              empty={<Empty icon="clock" title="No jobs" />}
            />
          </Section>
        </>
      )}
    </Page>
  );
}

function Database({ status: { database, mail, sms, backup } }: { status: Status }) {
  const sender = ({ kind, lastSentAt }: Status['mail']) => (
    <>
      {kind ? (senderKinds[kind] ?? kind) : 'Not set up'}; last sent <Time at={lastSentAt} fallback="never" />
    </>
  );
  return (
    <Facts
      facts={[
        ['Database', `PostgreSQL ${database.version}, ${bytes(database.sizeBytes)}`],
        ['Connections', `${database.connections} of ${database.maxConnections}`],
        ['Migrations', `${database.migrationsApplied} have run`],
        ['Mail', sender(mail)],
        ['SMS', sender(sms)],
        [
          'Backup',
          <>
            <Time at={backup?.takenAt} fallback="Never recorded" />
            {backup && `, ${bytes(backup.bytes)}`}
          </>,
        ],
      ]}
    />
  );
}
