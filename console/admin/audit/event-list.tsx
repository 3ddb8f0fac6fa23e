import { Link } from 'react-router';
import { Badge } from '../ui/badge.tsx';
import { IdChip } from '../ui/copy.tsx';
import lines from '../ui/disclosures.module.css';
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
          <li key={index} className={styles.skeleton}>
            <i />
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
                {event.result === 'FAILURE' && <Badge tone="bad">Failed</Badge>}
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
        <table className={styles.changes}>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(([name, before, after]) => (
              <tr key={name}>
                <th scope="row">{fieldName(name)}</th>
                <td>{before}</td>
                <td>{after}</td>
              </tr>
            ))}
          </tbody>
        </table>
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
