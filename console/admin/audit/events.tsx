import { Group, Menu, Switch, Text } from '@mantine/core';
import { useMemo, useRef, useState } from 'react';
import { useQuery } from '../api.ts';
import { type AuditEventFilter, AuditEventGroups, AuditEvents } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { SecondaryButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { useDownload } from '../ui/files/use-download.ts';
import { Icon } from '../ui/icon.tsx';
import { MenuButton } from '../ui/layout/menu-button.tsx';
import { Section } from '../ui/layout/page.tsx';
import { Filter, filterOptions, ListBar, Pager, useListParams } from '../ui/lists/list-bar.tsx';
import { EventChips } from './event-chips.tsx';
import styles from './event-list.module.css';
import { EventGroupList, EventList } from './event-list.tsx';
import { exportAddress, filterOf, periodNames, queryNames } from './event-query.ts';
import type { AuditEvent } from './event-text.ts';
import { QueryBar } from './query-bar.tsx';
import { groupNames } from './sentences.ts';

const liveSeconds = 2;

/** Audit log with its query bar; filters live in the URL. @param projectId absent: the whole instance */
export function Events({ projectId, path }: { projectId?: string; path: string }) {
  const log = useLog(projectId);
  const { events, groups, failure, fresh, isFlat } = log;
  const { download, failure: refused } = useDownload({ needsFresh: false });
  const save = (format: 'csv' | 'jsonl') => void download(exportAddress(format, projectId, log.filter));
  if (failure && !groups) return <LoadError failure={failure} subject={t('the list of events')} retry={log.reload} />;
  const list = { filterPath: path, withProject: projectId === undefined, fresh };
  return (
    <Section flush>
      <ListBar>
        <QueryBar projectId={projectId} />
        <Filter name="group" label={t('Category')} options={filterOptions(t('All categories'), groupNames)} />
        <Filter
          name="result"
          label={t('Result')}
          options={filterOptions(t('Any result'), { SUCCESS: t('Succeeded'), FAILURE: t('Failed') })}
        />
        <Filter name="period" label={t('When')} options={filterOptions(t('Any time'), periodNames)} />
        <EventChips />
        <Group ml="auto">
          <ViewSwitches log={log} />
          <Export disabled={!events?.length} onChoose={save} />
        </Group>
      </ListBar>
      <FormError failure={refused} />
      {events?.length === 0 ? (
        <NoEvents />
      ) : isFlat ? (
        <EventList events={events} {...list} />
      ) : (
        <EventGroupList groups={groups} {...list} />
      )}
      <Pager pageInfo={log.pageInfo} />
    </Section>
  );
}

/** The page of events in the URL. */
function useLog(projectId: string | undefined) {
  const { get } = useListParams();
  const [isOn, setLive] = useState(false);
  const after = get('after');
  const isLive = isOn && after === undefined;
  const question = JSON.stringify(Object.fromEntries(queryNames.map((name) => [name, get(name)])));
  // Memoized, because relative periods depend on the current time.
  const filter = useMemo(() => {
    const asked = JSON.parse(question) as Record<string, string | undefined>;
    return filterOf((name) => asked[name], Date.now());
  }, [question]);
  const isFlat = get('view') === 'flat';
  const variables = { projectId: projectId ?? null, filter, after: after ?? null };
  const page = useEvents(variables, isFlat, isLive ? liveSeconds : undefined);
  const events = page.groups?.flat();
  const fresh = useFresh(page.stale ? undefined : events, isLive, `${isFlat} ${question}`);
  return { ...page, events, filter, fresh, isFlat, isLive, setLive };
}

function ViewSwitches({ log: { isFlat, isLive, setLive, fresh } }: { log: ReturnType<typeof useLog> }) {
  const { get, set } = useListParams();
  return (
    <>
      <Text span fz="xs" c="dimmed" role="status" className={styles.status ?? ''}>
        {isLive && (fresh.size === 0 ? t('Waiting for events …') : t('{count, number} new', { count: fresh.size }))}
      </Text>
      <Switch
        size="sm"
        label={t('Group sign-ins')}
        checked={!isFlat}
        onChange={(event) => set({ view: event.currentTarget.checked ? undefined : 'flat' })}
      />
      <Switch
        size="sm"
        label={t('Live updates')}
        checked={isLive}
        onChange={(event) => {
          setLive(event.currentTarget.checked);
          if (get('after') !== undefined) set({});
        }}
      />
    </>
  );
}

function NoEvents() {
  const { get, set } = useListParams();
  const isFiltered = queryNames.some((name) => get(name) !== undefined);
  const clear = () => {
    const names = queryNames.flatMap((name) => [name, `${name}Name`]);
    set(Object.fromEntries(names.map((name) => [name, undefined])));
  };
  return (
    <Empty
      icon="events"
      title={isFiltered ? t('No matches') : t('No events yet')}
      action={isFiltered && <SecondaryButton onClick={clear}>{t('Clear filters')}</SecondaryButton>}
    >
      {isFiltered ? t('No event matches these filters.') : t('Sign-ins and changes appear here.')}
    </Empty>
  );
}

/** Items of a page; the limit on a request's cost allows fewer sign-ins. */
const [eventsPerPage, groupsPerPage] = [50, 30];

/** A page of events, each alone or with those of its sign-in. */
function useEvents(
  variables: { projectId: string | null; filter: AuditEventFilter; after: string | null },
  isFlat: boolean,
  everySeconds: number | undefined,
) {
  const options = { keep: true, ...(everySeconds === undefined ? {} : { everySeconds }) };
  const flat = useQuery(AuditEvents, { ...variables, first: eventsPerPage }, { ...options, pause: !isFlat });
  const grouped = useQuery(AuditEventGroups, { ...variables, first: groupsPerPage }, { ...options, pause: isFlat });
  const { failure, stale, reload } = isFlat ? flat : grouped;
  const page = isFlat ? flat.data?.auditEvents : grouped.data?.auditEventGroups;
  const groups = isFlat
    ? flat.data?.auditEvents.edges.map(({ node }) => [node])
    : grouped.data?.auditEventGroups.edges.map(({ node }) => node.events);
  return { groups, pageInfo: page?.pageInfo, failure, stale, reload };
}

/** Downloads all matching events, not only this page; the browser streams them to disk. */
function Export({ disabled, onChoose }: { disabled: boolean; onChoose(format: 'csv' | 'jsonl'): void }) {
  return (
    <MenuButton label={t('Export')} size="xs" leftSection={<Icon name="download" size={14} />} disabled={disabled}>
      <Menu.Item onClick={() => onChoose('csv')}>{t('CSV, for spreadsheets')}</Menu.Item>
      <Menu.Item onClick={() => onChoose('jsonl')}>{t('JSON Lines, for programs')}</Menu.Item>
    </MenuButton>
  );
}

const none: ReadonlySet<string> = new Set();

/**
 * IDs of the events that arrived since live mode began or the filter changed.
 *
 * @param events undefined while loading, because the visible ones may belong to the previous filter
 */
function useFresh(events: readonly AuditEvent[] | undefined, isLive: boolean, question: string): ReadonlySet<string> {
  const known = useRef<{ question: string; ids: Set<string>; fresh: ReadonlySet<string> }>(undefined);
  const newest = events?.map(({ id }) => id).join();
  return useMemo(() => {
    if (!isLive) {
      known.current = undefined;
      return none;
    }
    if (newest === undefined) return known.current?.question === question ? known.current.fresh : none;
    const ids = newest.split(',').filter(Boolean);
    if (known.current?.question !== question) known.current = { question, ids: new Set(ids), fresh: none };
    const { current } = known;
    const added = ids.filter((id) => !current.ids.has(id));
    if (added.length > 0) {
      for (const id of added) current.ids.add(id);
      current.fresh = new Set([...current.fresh, ...added]);
    }
    return current.fresh;
  }, [newest, isLive, question]);
}
