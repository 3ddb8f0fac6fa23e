import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { EventList } from '../audit/event-list.tsx';
import { AuditEvents } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useOutline, useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { Pager, useListParams } from '../ui/lists/list-bar.tsx';
import type { ConnectionPartProps } from './connection-part.ts';

/** Changes, tests and failures of the connection, newest first. */
export function ConnectionEvents({ connection: { id, name, organization } }: ConnectionPartProps) {
  const { id: projectId } = useOutline();
  const { inProject } = useAccess(projectId);
  const of = organization ? { organizationId: organization.id } : { projectId };
  const path = useProjectPath();
  const { get } = useListParams();
  const variables = { ...of, filter: { subjectId: id }, first: 25, after: get('after') ?? null, inProject };
  const { data, failure, reload } = useQuery(AuditEvents, variables, { keep: true, everySeconds: 15 });
  const page = data?.auditEvents;
  const events = page?.edges.map(({ node }) => node);
  if (failure && !page) return <LoadError failure={failure} subject={t('the list of events')} retry={reload} />;
  const query = new URLSearchParams({ subject: id, subjectName: name });
  return (
    <Section
      flush
      title={t('Events')}
      lead={t('Changes, tests and failed sign-ins')}
      actions={
        inProject && (
          <LinkButton to={`${path('events')}?${query}`} size="xs">
            {t('Search and filter')}
          </LinkButton>
        )
      }
    >
      {events?.length === 0 ? (
        <Empty icon="events" title={t('Nothing yet')} />
      ) : (
        <EventList events={events} filterPath={inProject ? path('events') : undefined} />
      )}
      <Pager pageInfo={page?.pageInfo} />
    </Section>
  );
}
