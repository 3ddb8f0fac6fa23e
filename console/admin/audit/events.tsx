import { Button, CloseButton, Switch } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useRead } from '../api.ts';
import { type AuditEventFilter, AuditEvents } from '../generated/operations.ts';
import { Empty } from '../ui/empty.tsx';
import { Failed } from '../ui/failed.tsx';
import { Icon } from '../ui/icon.tsx';
import { Filter, ListBar, Pager, useListParams } from '../ui/list-bar.tsx';
import { Section } from '../ui/page.tsx';
import { saveFile } from '../ui/save-file.ts';
import { EventList } from './event-list.tsx';
import styles from './events.module.css';
import { type AuditEvent, type EventGroup, groupNames, inWords, typesOf } from './sentences.ts';

const periods = { hour: 3600, day: 86_400, week: 7 * 86_400, month: 30 * 86_400 } as const;
const periodNames = { hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days', month: 'Last 30 days' } as const;
const chips = ['actor', 'subject', 'client'] as const;
const chipNames = { actor: 'By', subject: 'About', client: 'Application' } as const;

/** A log of events with its filters, all in the address. @param projectId absent: of the whole instance */
export function Events({ projectId, path }: { projectId?: string; path: string }) {
  const params = useListParams();
  const { get, set } = params;
  const [live, setLive] = useState(false);
  const after = get('after');
  const filter = useFilter(params.get);
  const variables = { projectId: projectId ?? null, filter, first: 50, after: after ?? null };
  const { data, failure, reload } = useRead(AuditEvents, variables, {
    keep: true,
    ...(live && !after ? { everySeconds: 3 } : {}),
  });
  const page = data?.auditEvents;
  const events = page?.edges.map(({ node }) => node);
  const isFiltered = ['group', 'result', 'period', ...chips].some((name) => get(name) !== undefined);
  if (failure && !page) return <Failed failure={failure} what="the list of events" retry={reload} />;
  return (
    <Section flush>
      <ListBar>
        <Filter
          name="group"
          label="What it concerns"
          options={[
            { value: '', label: 'Everything' },
            ...Object.entries(groupNames).map(([value, label]) => ({ value, label })),
          ]}
        />
        <Filter
          name="result"
          label="How it ended"
          options={[
            { value: '', label: 'Any result' },
            { value: 'SUCCESS', label: 'Succeeded' },
            { value: 'FAILURE', label: 'Failed' },
          ]}
        />
        <Filter
          name="period"
          label="When"
          options={[
            { value: '', label: 'Any time' },
            ...Object.entries(periodNames).map(([value, label]) => ({ value, label })),
          ]}
        />
        {chips.map((name) => {
          const id = get(name);
          return (
            id && (
              <span key={name} className={styles.chip}>
                {chipNames[name]}: <strong>{get(`${name}Name`) ?? `${id.slice(0, 8)}…`}</strong>
                <CloseButton
                  size="xs"
                  aria-label={`Remove the filter ${chipNames[name]}`}
                  onClick={() => set({ [name]: undefined, [`${name}Name`]: undefined })}
                />
              </span>
            )
          );
        })}
        <div className={styles.tools}>
          <Switch
            size="sm"
            label="Live"
            checked={live}
            disabled={after !== undefined}
            onChange={(event) => setLive(event.currentTarget.checked)}
          />
          <Button
            variant="default"
            size="xs"
            leftSection={<Icon name="download" size={14} />}
            disabled={!events?.length}
            onClick={() => exportCsv(events ?? [])}
          >
            This page as CSV
          </Button>
        </div>
      </ListBar>
      {events?.length === 0 ? (
        <Empty
          icon="events"
          title={isFiltered ? 'Nothing of this kind' : 'Nothing has happened yet'}
          action={
            isFiltered && (
              <Button
                variant="default"
                onClick={() =>
                  set(
                    Object.fromEntries(
                      ['group', 'result', 'period', ...chips.flatMap((one) => [one, `${one}Name`])].map((name) => [
                        name,
                        undefined,
                      ]),
                    ),
                  )
                }
              >
                Remove the filters
              </Button>
            )
          }
        >
          {isFiltered
            ? 'No event fits all of these filters.'
            : 'Every sign-in and every change will stand here, with who did it.'}
        </Empty>
      ) : (
        <EventList events={events} filterPath={path} withProject={projectId === undefined} />
      )}
      <Pager pageInfo={page?.pageInfo} />
    </Section>
  );
}

function useFilter(get: (name: string) => string | undefined): AuditEventFilter {
  const [group, result, period] = [get('group'), get('result'), get('period')];
  const [actorId, subjectId, clientId] = [get('actor'), get('subject'), get('client')];
  return useMemo(() => {
    const seconds = periods[period as keyof typeof periods];
    return {
      ...(group && group in groupNames ? { types: typesOf(group as EventGroup) } : {}),
      ...(result === 'SUCCESS' || result === 'FAILURE' ? { result } : {}),
      ...(seconds ? { since: new Date(Date.now() - seconds * 1000).toISOString() } : {}),
      ...(actorId ? { actorId } : {}),
      ...(subjectId ? { subjectId } : {}),
      ...(clientId ? { clientId } : {}),
    };
  }, [group, result, period, actorId, subjectId, clientId]);
}

function exportCsv(events: readonly AuditEvent[]): void {
  const head = [
    'at',
    'type',
    'result',
    'what',
    'actor kind',
    'actor id',
    'subject kind',
    'subject id',
    'client id',
    'ip',
    'request id',
  ];
  const lines = events.map((event) => [
    event.at,
    event.type,
    event.result,
    inWords(event),
    event.actor.kind,
    event.actor.id,
    event.subject?.kind,
    event.subject?.id,
    event.client?.id,
    event.ip,
    event.requestId,
  ]);
  const text = [head, ...lines].map((line) => line.map(cell).join(',')).join('\r\n');
  saveFile('events.csv', text, 'text/csv');
}

/** Quoted; and nothing that a spreadsheet would take for a formula. */
function cell(value: string | null | undefined): string {
  const text = value ?? '';
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
