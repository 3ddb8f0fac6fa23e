import { type ComponentType, lazy, Suspense } from 'react';
import { useParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { Missing } from '../frame/missing.tsx';
import { ConnectionById } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useOutline, useProjectPath } from '../projects/project.tsx';
import { IdChip } from '../ui/code/copy.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Tabs } from '../ui/layout/tabs.tsx';
import { ConnectionOverview } from './connection-overview.tsx';
import type { ConnectionPartProps } from './connection-part.ts';
import { ConnectionState } from './connection-state.tsx';

const ConnectionSettings = lazy(async () => ({
  default: (await import('./settings/connection-settings.tsx')).ConnectionSettings,
}));
const SamlConnectionSettings = lazy(async () => ({
  default: (await import('./settings/saml-settings.tsx')).SamlConnectionSettings,
}));
const ConnectionEvents = lazy(async () => ({ default: (await import('./connection-events.tsx')).ConnectionEvents }));
const ConnectionDanger = lazy(async () => ({ default: (await import('./connection-danger.tsx')).ConnectionDanger }));

/** The settings of the kind. */
function Settings(props: ConnectionPartProps) {
  return props.connection.kind === 'SAML' ? <SamlConnectionSettings {...props} /> : <ConnectionSettings {...props} />;
}

const parts: readonly { tab: string; label: string; Part: ComponentType<ConnectionPartProps> }[] = [
  { tab: '', label: t('Overview'), Part: ConnectionOverview },
  { tab: 'settings', label: t('Settings'), Part: Settings },
  { tab: 'events', label: t('Events'), Part: ConnectionEvents },
  { tab: 'danger', label: t('Danger'), Part: ConnectionDanger },
];

/** One connection: health and setup, settings, events. */
export function ConnectionPage() {
  const { connectionId = '', tab = '' } = useParams();
  const project = useOutline();
  const path = useProjectPath();
  // A test sign-in in another tab changes it.
  const { data, failure, reload } = useQuery(ConnectionById, { id: connectionId }, { everySeconds: 5 });
  const connection = data?.connection.id === connectionId ? data.connection : undefined;
  const { mayChange } = useAccess(project.id, connection?.organization?.id);
  const chosen = parts.find((part) => part.tab === tab);
  if (!chosen) return <Missing />;
  if (!connection)
    return failure ? <LoadError failure={failure} subject={t('connection')} retry={reload} /> : <PageSkeleton />;
  const { Part } = chosen;
  const { organization } = connection;
  const at = (part: string) => path(`connections/${connectionId}${part && `/${part}`}`);
  return (
    <Page
      title={connection.name}
      back={
        organization
          ? { to: path(`organizations/${organization.id}/connections`), label: organization.name }
          : { to: path('connections'), label: t('Connections') }
      }
      badges={
        <>
          <ConnectionState connection={connection} />
          <IdChip id={connection.id} label={t('connection ID')} />
        </>
      }
    >
      <Tabs
        label={t('Sections of the connection')}
        tabs={parts.map(({ tab: part, label }) => ({ to: at(part), label, end: part === '' }))}
      />
      {!mayChange && <ViewerNotice project={project} />}
      <Suspense fallback={<PageSkeleton />}>
        <Part connection={connection} mayChange={mayChange} />
      </Suspense>
    </Page>
  );
}
