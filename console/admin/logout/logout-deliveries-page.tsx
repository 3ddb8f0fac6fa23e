import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { LogoutReceivers } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Deliveries } from './deliveries.tsx';
import { Omissions } from './omissions.tsx';
import { Receivers } from './receivers.tsx';

/** Back-channel logout deliveries per application. */
export function Component() {
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  const { data, failure, reload } = useQuery(LogoutReceivers, { projectId: project.id }, { everySeconds: 10 });
  const receivers = data?.logoutReceivers;
  return (
    <Page
      title={t('Logout deliveries')}
      lead={t('Logout tokens sent to applications (OpenID Connect Back-Channel Logout 1.0).')}
    >
      {!mayChange && <ViewerNotice project={project} />}
      <Receivers receivers={receivers} failure={failure} reload={reload} />
      <Omissions events={data?.auditEvents.edges.map(({ node }) => node) ?? []} />
      {(receivers === undefined || receivers.length > 0) && (
        <Deliveries projectId={project.id} receivers={receivers} mayChange={mayChange} />
      )}
    </Page>
  );
}
