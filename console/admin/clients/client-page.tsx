import { Badge } from '@mantine/core';
import { type ComponentType, lazy, Suspense } from 'react';
import { useParams } from 'react-router';
import { accessTexts } from '../access/texts.ts';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { apisTexts } from '../apis/texts.ts';
import { claimsTexts } from '../claims/texts.ts';
import { Missing } from '../frame/missing.tsx';
import { ClientById } from '../generated/operations.ts';
import { introductionsTexts } from '../introductions/texts.ts';
import { t, withTexts } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { rolesTexts } from '../roles/texts.ts';
import { IdChip } from '../ui/code/copy.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Tabs } from '../ui/layout/tabs.tsx';
import type { ClientPartProps } from './client-part.ts';

interface ClientTab {
  tab: string;
  label: string;
  Part: ComponentType<ClientPartProps>;
}

/** Loads a tab's script on demand. */
const fetched = <Props,>(load: () => Promise<ComponentType<Props>>) => lazy(async () => ({ default: await load() }));

const parts: readonly ClientTab[] = [
  {
    tab: '',
    label: t('Quickstart'),
    Part: fetched(async () => (await import('./quickstart/client-quickstart.tsx')).ClientQuickstart),
  },
  {
    tab: 'settings',
    label: t('Settings'),
    Part: fetched(async () => (await import('./client-settings.tsx')).ClientSettings),
  },
  { tab: 'keys', label: t('Keys'), Part: fetched(async () => (await import('./keys/client-keys.tsx')).ClientKeys) },
  {
    tab: 'tokens',
    label: t('Tokens & logout'),
    Part: fetched(async () => (await import('./client-tokens.tsx')).ClientTokens),
  },
  {
    tab: 'apis',
    label: t('APIs'),
    Part: fetched(async () => (await withTexts(apisTexts, () => import('../apis/client-apis.tsx'))).ClientApis),
  },
  {
    tab: 'security',
    label: t('Security'),
    Part: fetched(async () => (await import('./client-security.tsx')).ClientSecurity),
  },
  {
    tab: 'roles',
    label: t('Roles'),
    Part: fetched(async () => (await withTexts(rolesTexts, () => import('../roles/client-roles.tsx'))).ClientRoles),
  },
  {
    tab: 'access',
    label: t('Access'),
    Part: fetched(async () => (await withTexts(accessTexts, () => import('../access/client-access.tsx'))).ClientAccess),
  },
  {
    tab: 'claims',
    label: t('Claims'),
    Part: fetched(async () => (await withTexts(claimsTexts, () => import('../claims/client-claims.tsx'))).ClientClaims),
  },
  { tab: 'events', label: t('Events'), Part: fetched(async () => (await import('./client-events.tsx')).ClientEvents) },
  { tab: 'danger', label: t('Danger'), Part: fetched(async () => (await import('./client-danger.tsx')).ClientDanger) },
];

/** Tabs that SAML applications have, too. */
const shared = ['roles', 'access', 'claims', 'events', 'danger'];

const samlParts: readonly ClientTab[] = [
  {
    tab: '',
    label: t('Setup'),
    Part: fetched(async () => (await (await import('../sessions/saml-parts.ts')).samlParts()).SamlSetup),
  },
  {
    tab: 'settings',
    label: t('Settings'),
    Part: fetched(async () => (await (await import('../sessions/saml-parts.ts')).samlParts()).SamlSettings),
  },
  ...parts.filter(({ tab }) => shared.includes(tab)),
];

const ofIntroduced = ['access', 'events', 'danger'];

/** An admin can limit and block an application that introduced itself, and change nothing else. */
const introducedParts: readonly ClientTab[] = [
  ...parts.filter(({ tab }) => tab === 'tokens').map((part) => ({ ...part, tab: '' })),
  ...parts.filter(({ tab }) => ofIntroduced.includes(tab)),
];

const Introductions = fetched(
  async () =>
    (await withTexts(introductionsTexts, () => import('../introductions/introductions-page.tsx'))).IntroductionsPage,
);

/** An application, or those that introduced themselves. */
export function Component() {
  const { clientId } = useParams();
  if (clientId !== 'introduced') return <ClientPage />;
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Introductions />
    </Suspense>
  );
}

function ClientPage() {
  const { clientId = '', tab = '' } = useParams();
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  const { data, failure, reload } = useQuery(ClientById, { id: clientId });
  const client = data?.client?.id === clientId ? data.client : undefined;
  if (!client)
    return failure ? <LoadError failure={failure} subject={t('application')} retry={reload} /> : <PageSkeleton />;
  const tabs = client.introducedBy !== null ? introducedParts : client.samlEntityId === null ? parts : samlParts;
  const chosen = tabs.find((part) => part.tab === tab);
  if (!chosen) return <Missing />;
  const { Part } = chosen;
  const at = (part: string) => path(`applications/${clientId}${part && `/${part}`}`);
  return (
    <Page
      title={client.name}
      back={{
        to: path(client.introducedBy === null ? 'applications' : 'applications/introduced'),
        label: t('Applications'),
      }}
      badges={
        <>
          {client.disabled && <Badge color="bad">{t('Disabled')}</Badge>}
          {client.samlEntityId !== null && <Badge>SAML</Badge>}
          {client.builtIn === 'CONSOLE' && <Badge>{t('This console')}</Badge>}
          {client.builtIn === 'DEMO' && <Badge>{t('Sample')}</Badge>}
          <IdChip id={client.id} label={t('client ID')} />
        </>
      }
    >
      <Tabs
        label={t('Application sections')}
        tabs={tabs.map(({ tab: part, label }) => ({ to: at(part), label, end: part === '' }))}
      />
      {!mayChange && <ViewerNotice project={project} />}
      <Suspense fallback={<PageSkeleton />}>
        <Part client={client} mayChange={mayChange} />
      </Suspense>
    </Page>
  );
}
