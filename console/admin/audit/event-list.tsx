import { Badge, Text } from '@mantine/core';
import { Link } from 'react-router';
import { IdChip } from '../ui/code/copy.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Disclosures } from '../ui/lists/disclosures.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { Time } from '../ui/time.tsx';
import styles from './event-list.module.css';
import { type AuditEvent, detailsOf, fieldName, partsOf } from './event-text.ts';

interface EventListProps {
  events: readonly AuditEvent[] | undefined;
  /** Shows the project's name beside each event. */
  withProject?: boolean;
  /** Path of the list that filter links open; absent: no links. */
  filterPath?: string;
  /** IDs of the events that arrived in live mode. */
  fresh?: ReadonlySet<string>;
  skeletonRows?: number;
}

/** Audit events, newest first: one sentence each, with expandable details. */
export function EventList({ events, withProject = false, filterPath, fresh, skeletonRows = 8 }: EventListProps) {
  return (
    <Disclosures
      rows={events}
      columns="auto minmax(0, 1fr) minmax(0, 12rem) 9rem"
      narrowColumns="auto minmax(0, 1fr)"
      isFresh={({ id }) => fresh?.has(id) ?? false}
      skeletonRows={skeletonRows}
      summary={(event) => {
        const isFailed = event.result === 'FAILURE';
        return (
          <>
            <span className={styles.dot} data-failed={isFailed || undefined} />
            <span className={styles.sentence}>
              {partsOf(event).map(({ text, isName }, index) => (isName ? <strong key={index}>{text}</strong> : text))}
              {isFailed && (
                <Badge ml="xs" color="bad">
                  Failed
                </Badge>
              )}
            </span>
            <Text span truncate c="dimmed" className={styles.about}>
              {event.client?.name ?? (withProject ? event.project?.name : undefined)}
            </Text>
            <span className={styles.time}>
              <Time at={event.at} />
            </span>
          </>
        );
      }}
      details={(event) => <Details event={event} filterPath={filterPath} />}
    />
  );
}

const changeColumns: Column<[name: string, before: string, after: string]>[] = [
  { header: 'Setting', isName: true, cell: ([name]) => fieldName(name) },
  { header: 'Before', width: '33%', cell: ([, before]) => before },
  { header: 'After', width: '33%', cell: ([, , after]) => after },
];

function Details({ event, filterPath }: { event: AuditEvent; filterPath: string | undefined }) {
  const { changes, others } = detailsOf(event);
  const { actor, subject, client } = event;
  const filter = (name: string, id: string, label: string) =>
    filterPath && (
      <Link to={`${filterPath}?${new URLSearchParams({ [name]: id, [`${name}Name`]: label })}`}>All of {label}</Link>
    );
  /** The actor or the subject, with its ID and a link to its events. */
  const party = (
    role: 'actor' | 'subject',
    { id, kind, name }: { id?: string | null; kind: string; name?: string | null },
  ) => (
    <>
      {name ?? kind} {id && <IdChip id={id} label={`${role} id`} />}{' '}
      {id && filter(kind === 'user' ? 'user' : role, id, name ?? kind)}
    </>
  );
  return (
    <>
      {changes.length > 0 && (
        <DataTable dense label="Changes" columns={changeColumns} rows={changes} keyOf={([name]) => name} />
      )}
      <Facts
        labelWidth="8rem"
        facts={[
          ...others.map(([name, value]) => [fieldName(name), value] as const),
          ['Type', <code key="type">{event.type}</code>],
          ['By', party('actor', actor)],
          subject && ['About', party('subject', subject)],
          client && [
            'Application',
            <>
              {client.name} {filter('client', client.id, client.name)}
            </>,
          ],
          event.ip && ['Address', event.ip],
          event.userAgent && ['Browser', event.userAgent],
          event.requestId && ['Request', <IdChip key="id" id={event.requestId} label="request id" />],
        ]}
      />
    </>
  );
}
