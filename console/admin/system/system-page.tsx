import { Badge, Text } from '@mantine/core';
import { useQuery } from '../api.ts';
import { System, type SystemQuery } from '../generated/operations.ts';
import { serverText, t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';

import { count, tenths } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';
import { jobNames } from './job-names.ts';
import { bytes, levels } from './levels.ts';
import { senderKinds } from './sender-kinds.ts';

type Status = SystemQuery['system'];
type Process = Status['processes'][number];
type Job = Status['jobs'][number];

const checkColumns: readonly Column<Status['checks'][number]>[] = [
  { header: t('Check'), isName: true, width: '26%', cell: ({ name }) => serverText(name) },
  {
    header: t('Status'),
    isCorner: true,
    cell: ({ level }) => <Badge color={levels[level].tone}>{levels[level].text}</Badge>,
  },
  {
    header: t('Result'),
    isPlain: true,
    width: '60%',
    cell: ({ summary, advice }) => (
      <div>
        <Text c="var(--text)">{serverText(summary)}</Text>
        {advice && <Text>{serverText(advice)}</Text>}
      </div>
    ),
  },
];

const processColumns: readonly Column<Process>[] = [
  { header: t('Process'), isName: true, width: '26%', cell: ({ host, pid }) => `${host}, ${pid}` },
  {
    header: t('Version'),
    cell: ({ version, nodeVersion }) => t('{version} on Node {nodeVersion}', { version, nodeVersion }),
  },
  { header: t('Started'), cell: ({ startedAt }) => <Time at={startedAt} /> },
  { header: t('Last heartbeat'), cell: ({ seenAt }) => <Time at={seenAt} /> },
  {
    header: t('ID token signing'),
    align: 'end',
    cell: ({ signMicroseconds }) =>
      signMicroseconds == null ? '–' : t('{time} ms', { time: tenths.format(signMicroseconds / 1000) }),
  },
  {
    header: t('Clock'),
    align: 'end',
    cell: ({ clockSkewMs }) => t('{time} ms', { time: `${clockSkewMs > 0 ? '+' : ''}${clockSkewMs}` }),
  },
];

const jobColumns: readonly Column<Job>[] = [
  { header: t('Job'), isName: true, width: '36%', cell: ({ name }) => jobNames[name] ?? name },
  { header: t('Ready'), align: 'end', cell: ({ waiting }) => count.format(waiting) },
  { header: t('Scheduled'), align: 'end', cell: ({ deferred }) => count.format(deferred) },
  { header: t('Running'), align: 'end', cell: ({ active }) => count.format(active) },
  {
    header: t('Failed in 24 h'),
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
      title={t('System')}
      lead={t('Health of this instance, updated every 10 seconds')}
      badges={overall && <Badge color={overall.tone}>{overall.text}</Badge>}
    >
      {failure && !status ? (
        <LoadError failure={failure} subject={t('system status')} retry={reload} />
      ) : (
        <>
          <TableSection title={t('Checks')} columns={checkColumns} rows={status?.checks} keyOf={({ name }) => name} />
          <TableSection
            title={t('Processes')}
            lead={t('Servers sharing this database; heartbeat every 20 seconds')}
            columns={processColumns}
            rows={status?.processes}
            skeletonRows={1}
            empty={<Empty icon="server" title={t('No heartbeats')} />}
          />
          <Section title={t('Database and messages')}>
            {status ? <Database status={status} /> : <LinesSkeleton lines={5} />}
          </Section>
          <TableSection
            title={t('Jobs')}
            lead={t('Background work; up to 30 seconds old')}
            columns={jobColumns}
            rows={status?.jobs}
            keyOf={({ name }) => name}
            skeletonRows={5}
            empty={<Empty icon="clock" title={t('No jobs')} />}
          />
        </>
      )}
    </Page>
  );
}

function Database({ status: { database, mail, sms, backup } }: { status: Status }) {
  const sender = ({ kind, lastSentAt }: Status['mail']) => (
    <>
      {kind ? (senderKinds[kind] ?? kind) : t('Not set up')}
      {'; '}
      {rich('last sent <time></time>', { time: () => <Time at={lastSentAt} fallback={t('never')} /> })}
    </>
  );
  return (
    <Facts
      facts={[
        [
          t('Database'),
          t('PostgreSQL {version}, {size}', { version: database.version, size: bytes(database.sizeBytes) }),
        ],
        [
          t('Connections'),
          t('{connections} of {maxConnections}', {
            connections: database.connections,
            maxConnections: database.maxConnections,
          }),
        ],
        [t('Migrations'), t('{count} have run', { count: database.migrationsApplied })],
        [t('Mail'), sender(mail)],
        ['SMS', sender(sms)],
        [
          t('Backup'),
          <>
            <Time at={backup?.takenAt} fallback={t('Never recorded')} />
            {backup && `, ${bytes(backup.bytes)}`}
          </>,
        ],
      ]}
    />
  );
}
