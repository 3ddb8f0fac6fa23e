import { Alert } from '@mantine/core';
import { type ComponentType, lazy, Suspense } from 'react';
import { useParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { connectionsTexts } from '../connections/texts.ts';
import { Missing } from '../frame/missing.tsx';
import { OrganizationById } from '../generated/operations.ts';
import { t, withTexts } from '../language/language.ts';
import { useOutline, useProjectPath } from '../projects/project.tsx';
import { IdChip } from '../ui/code/copy.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Tabs } from '../ui/layout/tabs.tsx';
import { OrganizationDanger } from './organization-danger.tsx';
import { StateBadge } from './organization-list.tsx';
import type { OrganizationPartProps } from './organization-part.ts';
import { OrganizationPeople } from './organization-people.tsx';

const OrganizationEvents = lazy(async () => ({
  default: (await import('./organization-events.tsx')).OrganizationEvents,
}));
const OrganizationInvitations = lazy(async () => ({
  default: (await import('./invitations/organization-invitations.tsx')).OrganizationInvitations,
}));
const OrganizationDomains = lazy(async () => ({
  default: (await import('./domains/organization-domains.tsx')).OrganizationDomains,
}));
const OrganizationConnections = lazy(async () => ({
  default: (await withTexts(connectionsTexts, () => import('../connections/organization-connections.tsx')))
    .OrganizationConnections,
}));
const OrganizationDirectory = lazy(async () => ({
  default: (await import('./organization-directory.tsx')).OrganizationDirectory,
}));
const OrganizationPortal = lazy(async () => ({
  default: (await import('./portal/organization-portal.tsx')).OrganizationPortal,
}));
const OrganizationSettings = lazy(async () => ({
  default: (await import('./settings/organization-settings.tsx')).OrganizationSettings,
}));

interface OrganizationTab {
  tab: string;
  label: string;
  Part: ComponentType<OrganizationPartProps>;
  /** Not for admins of the organization alone (decisions/0412). */
  needsProject?: true;
}

const allParts: readonly OrganizationTab[] = [
  { tab: '', label: t('People'), Part: OrganizationPeople },
  { tab: 'invitations', label: t('Invitations'), Part: OrganizationInvitations },
  { tab: 'domains', label: t('Domains'), Part: OrganizationDomains },
  { tab: 'connections', label: t('Connections'), Part: OrganizationConnections },
  { tab: 'directory', label: t('Directory'), Part: OrganizationDirectory },
  { tab: 'portal', label: t('Portal'), Part: OrganizationPortal },
  { tab: 'settings', label: t('Settings'), Part: OrganizationSettings, needsProject: true },
  { tab: 'events', label: t('Events'), Part: OrganizationEvents },
  { tab: 'danger', label: t('Danger'), Part: OrganizationDanger, needsProject: true },
];

/** One organization: its people, settings and events. */
export function OrganizationPage() {
  const { organizationId = '', tab = '' } = useParams();
  const project = useOutline();
  const path = useProjectPath();
  const { mayChange, inProject } = useAccess(project.id, organizationId);
  const { data, failure, reload } = useQuery(OrganizationById, { id: organizationId, inProject });
  const organization = data?.organization?.id === organizationId ? data.organization : undefined;
  const parts = allParts.filter(({ needsProject }) => inProject || !needsProject);
  const chosen = parts.find((part) => part.tab === tab);
  if (!chosen) return <Missing />;
  if (!organization)
    return failure ? <LoadError failure={failure} subject={t('organization')} retry={reload} /> : <PageSkeleton />;
  const { Part } = chosen;
  const at = (part: string) => path(`organizations/${organizationId}${part && `/${part}`}`);
  return (
    <Page
      title={organization.name}
      back={{ to: path('organizations'), label: t('Organizations') }}
      badges={
        <>
          {organization.state === 'SUSPENDED' && <StateBadge state={organization.state} />}
          <IdChip id={organization.id} label={t('organization ID')} />
        </>
      }
    >
      <Tabs
        label={t('Sections of the organization')}
        tabs={parts.map(({ tab: part, label }) => ({ to: at(part), label, end: part === '' }))}
      />
      {!mayChange && <ViewerNotice project={project} />}
      {!project.organizationsEnabled && (
        <Alert color="note">{t('Organizations are off in this project: memberships have no effect.')}</Alert>
      )}
      {organization.state === 'SUSPENDED' && (
        <Alert color="note">{t('Suspended: no one can sign in to this organization.')}</Alert>
      )}
      <Suspense fallback={<PageSkeleton />}>
        <Part organization={organization} mayChange={mayChange} inProject={inProject} />
      </Suspense>
    </Page>
  );
}
