import { Badge } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Link } from 'react-router';
import { locale, t } from '../language/language.ts';
import { Breakable } from '../ui/breakable.tsx';
import { Browser } from '../ui/browser.tsx';
import { IdChip } from '../ui/code/copy.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Disclosures } from '../ui/lists/disclosures.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { exactly, Time } from '../ui/time.tsx';
import styles from './event-list.module.css';
import { type AuditEvent, detailsOf, isFailed, kindName, partsOf } from './event-text.ts';
import { fieldName } from './field-names.ts';
import { lineOf } from './sign-in-line.ts';

const AddAddress = lazy(async () => ({ default: (await import('../clients/add-address.tsx')).AddAddress }));

interface EventListProps {
  /** Shows the project's name beside each event. */
  withProject?: boolean;
  /** Path of the list that filter links open; absent: no links. */
  filterPath?: string | undefined;
  /** IDs of the events that arrived in live mode. */
  fresh?: ReadonlySet<string> | undefined;
  skeletonRows?: number;
}

type Groups = readonly (readonly AuditEvent[])[];

/** Audit events: one sentence each, with expandable details. @param events undefined while loading */
export function EventList({
  events,
  ...props
}: EventListProps & { events: readonly AuditEvent[] | undefined; hasClock?: boolean }) {
  return <Rows {...props} rows={events?.map((event) => ({ id: event.id, events: [event] }))} />;
}

/** Audit events, those of one sign-in as one line that opens to them. @param groups undefined while loading */
export function EventGroupList({ groups, ...props }: EventListProps & { groups: Groups | undefined }) {
  const rows = groups?.flatMap((events) => (events[0] ? [{ id: events[0].id, events }] : []));
  return <Rows {...props} isGrouped rows={rows} />;
}

interface RowsProps extends EventListProps {
  /** `events`: at least one, oldest first. */
  rows: readonly { id: string; events: readonly AuditEvent[] }[] | undefined;
  isGrouped?: boolean;
  /** Shows the time of day, to the second. */
  hasClock?: boolean;
}

function Rows(props: RowsProps) {
  const { rows, withProject = false, filterPath, fresh, skeletonRows = 8, isGrouped = false, hasClock = false } = props;
  return (
    <Disclosures
      rows={rows}
      columns="auto minmax(0, 1fr) minmax(0, 12rem) 9rem"
      narrowColumns="auto minmax(0, 1fr)"
      isFresh={({ events }) => events.some(({ id }) => fresh?.has(id))}
      skeletonRows={skeletonRows}
      summary={({ events }) => {
        const line = lineOf(events);
        const { event } = line;
        const parts = isGrouped ? line.parts : partsOf(event);
        const hasFailed = isFailed(event);
        const about = [
          isGrouped && line.isSignIn ? undefined : event.client?.name,
          withProject && (isGrouped || !event.client) ? event.project?.name : undefined,
          events.length > 1 ? t('{count, number} events', { count: events.length }) : undefined,
        ];
        return (
          <>
            <span className={styles.dot} data-failed={hasFailed || undefined} />
            <span className={styles.sentence}>
              {parts.map(({ text, isName }, index) =>
                isName ? (
                  <strong key={index}>
                    <Breakable text={text} />
                  </strong>
                ) : (
                  text
                ),
              )}
              {isGrouped && line.notes.length > 0 && <span className={styles.notes}> · {line.notes.join(', ')}</span>}
              {hasFailed && (
                <>
                  {' '}
                  <Badge color="bad">{t('Failed')}</Badge>
                </>
              )}
            </span>
            <span className={styles.about}>{about.filter(Boolean).join(' · ')}</span>
            <span className={styles.time}>
              {hasClock ? (
                <time dateTime={event.at} title={exactly(event.at)}>
                  {new Date(event.at).toLocaleTimeString(locale, { timeStyle: 'medium' })}
                </time>
              ) : (
                <Time at={event.at} />
              )}
            </span>
          </>
        );
      }}
      details={({ events: [event, ...others] }) =>
        event && others.length === 0 ? (
          <Details event={event} filterPath={filterPath} />
        ) : (
          <div className={styles.steps}>
            <EventList hasClock filterPath={filterPath} events={event && [event, ...others]} />
          </div>
        )
      }
    />
  );
}

const changeColumns: Column<[name: string, before: string, after: string]>[] = [
  { header: t('Setting'), isName: true, cell: ([name]) => fieldName(name) },
  { header: t('Old value'), width: '33%', cell: ([, before]) => before },
  { header: t('New value'), width: '33%', cell: ([, , after]) => after },
];

function Details({ event, filterPath }: { event: AuditEvent; filterPath: string | undefined }) {
  const { changes, others, signInId } = detailsOf(event);
  const { actor, subject, client } = event;
  const filter = (name: string, id: string, label: string) =>
    filterPath && (
      <Link to={`${filterPath}?${new URLSearchParams({ [name]: id, [`${name}Name`]: label })}`}>
        {t('All of {label}', { label })}
      </Link>
    );
  /** The actor or the subject, with its ID and a link to its events. */
  const party = (
    role: 'actor' | 'subject',
    { id, kind, name }: { id?: string | null; kind: string; name?: string | null },
  ) => (
    <>
      {name ?? kindName(kind)} {id && <IdChip id={id} label={role === 'actor' ? t('actor ID') : t('subject ID')} />}{' '}
      {id && filter(kind === 'user' ? 'user' : role, id, name ?? kindName(kind))}
    </>
  );
  return (
    <>
      {changes.length > 0 && (
        <DataTable dense label={t('Changes')} columns={changeColumns} rows={changes} keyOf={([name]) => name} />
      )}
      <Facts
        labelWidth="8rem"
        facts={[
          ...others.map(([name, value]) => [fieldName(name), value] as const),
          [t('Type'), <code key="type">{event.type}</code>],
          [t('By'), party('actor', actor)],
          subject && [t('About'), party('subject', subject)],
          client && [
            t('Application'),
            <>
              {client.name} {filter('client', client.id, client.name)}
            </>,
          ],
          event.ip && [t('Address'), event.ip],
          event.userAgent && [t('Browser'), <Browser key="browser" userAgent={event.userAgent} />],
          signInId !== undefined && [
            t('Sign-in'),
            <>
              <IdChip id={signInId} label={t('sign-in ID')} />{' '}
              {filterPath && (
                <Link to={`${filterPath}?${new URLSearchParams({ signIn: signInId })}`}>
                  {t('All of this sign-in')}
                </Link>
              )}
            </>,
          ],
          event.requestId && [t('Request'), <IdChip key="id" id={event.requestId} label={t('request ID')} />],
        ]}
      />
      {typeof event.detail?.['redirectUri'] === 'string' && (
        <Suspense>
          <AddAddress event={event} />
        </Suspense>
      )}
    </>
  );
}
