import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { Section } from '../ui/layout/page.tsx';
import { EventList } from './event-list.tsx';
import type { AuditEvent } from './event-text.ts';

interface ActivityProps {
  title?: string;
  /** Undefined while loading. */
  events: readonly AuditEvent[] | undefined;
  /** Filter of the linked list of all events. */
  query?: Record<string, string>;
  /** Links each event to lists of related ones. */
  hasFilters?: boolean;
  /** Text of an empty list. */
  empty?: string;
}

/** Latest events of a subject, with a link to all of them. */
export function Activity({ title = t('Activity'), events, query, hasFilters = false, empty }: ActivityProps) {
  const all = useProjectPath()('events');
  return (
    <Section
      flush
      title={title}
      actions={
        <LinkButton to={query ? `${all}?${new URLSearchParams(query)}` : all} size="xs">
          {t('All events')}
        </LinkButton>
      }
    >
      {events?.length === 0 ? (
        <Empty icon="events" title={t('Nothing yet')}>
          {empty}
        </Empty>
      ) : (
        <EventList events={events} skeletonRows={4} {...(hasFilters ? { filterPath: all } : {})} />
      )}
    </Section>
  );
}
