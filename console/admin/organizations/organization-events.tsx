import { useQuery } from '../api.ts';
import { EventList } from '../audit/event-list.tsx';
import { AuditEvents } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { Pager, useListParams } from '../ui/lists/list-bar.tsx';
import type { OrganizationPartProps } from './organization-part.ts';

/** Audit events of the organization and its members, newest first. */
export function OrganizationEvents({ organization: { id, name }, inProject }: OrganizationPartProps) {
  const path = useProjectPath();
  const { get } = useListParams();
  const variables = { organizationId: id, first: 25, after: get('after') ?? null, inProject };
  const { data, failure, reload } = useQuery(AuditEvents, variables, { keep: true, everySeconds: 15 });
  const page = data?.auditEvents;
  const events = page?.edges.map(({ node }) => node);
  if (failure && !page) return <LoadError failure={failure} subject={t('the list of events')} retry={reload} />;
  const query = new URLSearchParams({ organization: id, organizationName: name });
  return (
    <Section
      flush
      title={t('Events')}
      lead={t('Changes of the organization, its members and their roles')}
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
