import { useParams } from 'react-router';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Tabs } from '../ui/layout/tabs.tsx';
import { DeliveryLog } from './delivery-log.tsx';
import { Sending } from './sending.tsx';
import { Templates } from './templates.tsx';

const tabs = { log: DeliveryLog, templates: Templates, sending: Sending };

/** Mail and text messages of a project: delivery log, templates, senders. */
export function MessagesPage() {
  const project = useProject();
  const path = useProjectPath();
  const { tab = 'log' } = useParams();
  const Tab = tabs[tab as keyof typeof tabs];
  return (
    <Page title={t('Messages')} lead={t('One-time codes and notices: delivery log, templates, senders')}>
      <Tabs
        label={t('Message sections')}
        tabs={[
          { to: path('messages'), label: t('Delivery log'), end: true },
          { to: path('messages/templates'), label: t('Templates') },
          { to: path('messages/sending'), label: t('Sending') },
        ]}
      />
      {Tab ? <Tab project={project} /> : <Empty icon="search" title={t('Not found')} />}
    </Page>
  );
}
