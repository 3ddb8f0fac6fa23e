import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { useQuery } from '../api.ts';
import { EventList } from '../audit/event-list.tsx';
import { AuditEvents } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { Pager, useListParams } from '../ui/lists/list-bar.tsx';
import type { ClientPartProps } from './client-part.ts';

/** Audit events of the application, newest first. */
export function ClientEvents({ client }: ClientPartProps) {
  const project = useProject();
  const path = useProjectPath();
  const { get } = useListParams();
  const variables = {
    projectId: project.id,
    filter: { clientId: client.id },
    first: 25,
    after: get('after') ?? null,
  };
  const { data, failure, reload } = useQuery(AuditEvents, variables, { keep: true, everySeconds: 15 });
  const page = data?.auditEvents;
  const events = page?.edges.map(({ node }) => node);
  if (failure && !page) return <LoadError failure={failure} subject={t('the list of events')} retry={reload} />;
  return (
    <Section
      flush
      title={t('Events')}
      lead={t('Changes, sign-ins and tokens of this application')}
      actions={
        <Button
          component={Link}
          to={`${path('events')}?${new URLSearchParams({ client: client.id, clientName: client.name })}`}
          variant="default"
          size="xs"
        >
          {t('Search and filter')}
        </Button>
      }
    >
      {events?.length === 0 ? (
        <Empty icon="events" title={t('Nothing yet')}>
          {t('Sign-ins appear here.')}
        </Empty>
      ) : (
        <EventList events={events} filterPath={path('events')} />
      )}
      <Pager pageInfo={page?.pageInfo} />
    </Section>
  );
}
