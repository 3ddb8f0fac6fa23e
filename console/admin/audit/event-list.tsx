import { Badge, Skeleton, Table } from '@mantine/core';
import { Link } from 'react-router';
import { IdChip } from '../ui/code/copy.tsx';
import lines from '../ui/lists/disclosures.module.css';
import { Time } from '../ui/time.tsx';
import styles from './event-list.module.css';
import { type AuditEvent, detailsOf, fieldName, partsOf } from './sentences.ts';

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
  if (!events) {
    return (
      <ol className={`${lines.list} ${styles.list}`} aria-busy="true" aria-label="Loading">
        {Array.from({ length: skeletonRows }, (_, index) => (
          <li key={index}>
            <Skeleton h="0.75rem" w="55%" my="md" mx="lg" />
          </li>
        ))}
      </ol>
    );
  }
  return (
    <ol className={`${lines.list} ${styles.list}`}>
      {events.map((event) => (
        <li key={event.id} data-fresh={fresh?.has(event.id) || undefined}>
          <details>
            <summary>
              <span className={styles.dot} data-failed={event.result === 'FAILURE' || undefined} />
              <span className={styles.sentence}>
                {partsOf(event).map(({ text, isName }, index) => (isName ? <strong key={index}>{text}</strong> : text))}
                {event.result === 'FAILURE' && <Badge color="bad">Failed</Badge>}
              </span>
              <span className={styles.about}>
                {event.client?.name ?? (withProject ? event.project?.name : undefined)}
              </span>
              <span className={styles.time}>
                <Time at={event.at} />
              </span>
            </summary>
            <Details event={event} filterPath={filterPath} />
          </details>
        </li>
      ))}
    </ol>
  );
}

function Details({ event, filterPath }: { event: AuditEvent; filterPath: string | undefined }) {
  const { changes, others } = detailsOf(event);
  const { actor, subject, client } = event;
  const filter = (name: string, id: string, label: string) =>
    filterPath && (
      <Link to={`${filterPath}?${new URLSearchParams({ [name]: id, [`${name}Name`]: label })}`}>All of {label}</Link>
    );
  return (
    <div className={`${lines.details} ${styles.details}`}>
      {changes.length > 0 && (
        <Table layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Setting</Table.Th>
              <Table.Th scope="col">Before</Table.Th>
              <Table.Th scope="col">After</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map(([name, before, after]) => (
              <Table.Tr key={name}>
                <Table.Th scope="row">{fieldName(name)}</Table.Th>
                <Table.Td>{before}</Table.Td>
                <Table.Td>{after}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <dl>
        {others.map(([name, value]) => (
          <Line key={name} label={fieldName(name)}>
            {value}
          </Line>
        ))}
        <Line label="Type">
          <code>{event.type}</code>
        </Line>
        <Line label="By">
          {actor.name ?? actor.kind} {actor.id && <IdChip id={actor.id} label="actor id" />}{' '}
          {actor.id && filter(actor.kind === 'user' ? 'user' : 'actor', actor.id, actor.name ?? actor.kind)}
        </Line>
        {subject && (
          <Line label="About">
            {subject.name ?? subject.kind} {subject.id && <IdChip id={subject.id} label="subject id" />}{' '}
            {subject.id &&
              filter(subject.kind === 'user' ? 'user' : 'subject', subject.id, subject.name ?? subject.kind)}
          </Line>
        )}
        {client && (
          <Line label="Application">
            {client.name} {filter('client', client.id, client.name)}
          </Line>
        )}
        {event.ip && <Line label="Address">{event.ip}</Line>}
        {event.userAgent && <Line label="Browser">{event.userAgent}</Line>}
        {event.requestId && (
          <Line label="Request">
            <IdChip id={event.requestId} label="request id" />
          </Line>
        )}
      </dl>
    </div>
  );
}

function Line({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
