import { createBrowserRouter, type LoaderFunction, Navigate, type RouteObject, useParams } from 'react-router';
import { Home } from './frame/home.tsx';
import { Missing } from './frame/missing.tsx';
import { PageError, Root, RootError } from './frame/root.tsx';
import { prefetchOverview } from './overview/prefetch-overview.ts';
import { ProjectPages } from './projects/project.tsx';

type PageComponent = () => React.ReactNode;

/** Each resource has its own page: input and dialogs that are open for one never apply to another. */
function ofResource(Component: PageComponent): PageComponent {
  return function ResourcePage() {
    const { tab: _, ...ids } = useParams();
    return <Component key={Object.values(ids).join(' ')} />;
  };
}

/**
 * Loads a page's script (export `Component`) on demand. A parent route renders load errors: the router renders nothing
 * for a route that failed to load.
 *
 * @param request sends the queries of a project's page while its script loads. The page is shown with its data, or with
 *   its skeleton if that takes longer than half a second
 */
const page = (
  path: string,
  load: () => Promise<{ Component: PageComponent }>,
  request?: (projectId: string) => Promise<void>,
): RouteObject => ({
  errorElement: <PageError />,
  children: [
    {
      path,
      lazy: async () => ({ Component: ofResource((await load()).Component) }),
      ...(request && { loader: loaderOf(request) }),
    },
  ],
});

const delayMilliseconds = 500;

const loaderOf =
  (request: (projectId: string) => Promise<void>): LoaderFunction =>
  async ({ params }) => {
    const delay = new Promise((resolve) => setTimeout(resolve, delayMilliseconds));
    await Promise.race([request(params['projectId'] ?? ''), delay]);
    return null;
  };

/** The pages of admins of organizations (decisions/0412). */
const administered = () => import('./groups/administered-page.tsx');

const saml = () => import('./sessions/saml-parts.ts');

const inProject: RouteObject[] = [
  { index: true, element: <Navigate to="overview" replace /> },
  page('overview', () => import('./overview/overview-page.tsx'), prefetchOverview),
  page('applications', () => import('./clients/clients-page.tsx')),
  page('applications/new', () => import('./clients/create/create-client-page.tsx')),
  page('applications/saml', async () => ({
    Component: (await (await saml()).samlParts()).CreateSamlPage,
  })),
  page('applications/:clientId/:tab?', () => import('./clients/client-page.tsx')),
  page('enterprise-credentials', async () => ({
    Component: (await (await saml()).enterprisePage()).EnterprisePage,
  })),
  page('apis', () => import('./projects/apis-page.ts')),
  page('users', () => import('./users/users-page.tsx')),
  page('users/import', () => import('./users/add/import-page.tsx')),
  page('users/sign-ups', () => import('./users/sign-ups-page.tsx')),
  page('users/:userId', () => import('./users/user-page.tsx')),
  page('groups', () => import('./groups/groups-page.tsx')),
  page('groups/:groupId', () => import('./groups/group-page.tsx')),
  page('organizations/:organizationId?/:tab?', () => import('./groups/organizations-page.tsx')),
  page('directory', () => import('./directories/directory-page.tsx')),
  page('connections/:connectionId?/:tab?', () => import('./upstream/connections-page.tsx')),
  page('session-policy', () => import('./sessions/session-policy-page.tsx')),
  page('experience', () => import('./experience/experience-page.tsx')),
  page('factors', () => import('./signin/factors-page.tsx')),
  // Redirect from the former path.
  { path: 'sign-in', element: <Navigate to="../factors" replace /> },
  page('events', () => import('./audit/events-page.tsx')),
  page('troubleshooting', () => import('./support/troubleshooting-page.tsx')),
  page('messages/:tab?', () => import('./system/messages-page.tsx')),
  page('webhooks', () => import('./webhooks/webhooks-page.tsx')),
  page('webhooks/:webhookId', () => import('./webhooks/webhook-page.tsx')),
  page('log-streams', () => import('./streams/streams-page.tsx')),
  page('log-streams/:streamId', () => import('./streams/stream-page.tsx')),
  page('logout-deliveries', () => import('./sessions/logout-deliveries-page.ts')),
  page('team', () => import('./admins/project-team-page.tsx')),
  page('settings', () => import('./projects/settings-page.tsx')),
  { path: '*', element: <Missing /> },
];

export const router = createBrowserRouter(
  [
    {
      path: '/',
      element: <Root />,
      errorElement: <RootError />,
      children: [
        { index: true, element: <Home /> },
        page('projects', () => import('./projects/projects-page.tsx')),
        { path: 'projects/:projectId', element: <ProjectPages />, children: inProject },
        page('trial', () => import('./clients/trial/trial.ts')),
        page('team', () => import('./admins/instance-team-page.tsx')),
        page('explorer', () => import('./explorer/explorer-page.tsx')),
        page('audit', () => import('./audit/instance-audit-page.tsx')),
        page('log-streams', () => import('./streams/instance-streams-page.tsx')),
        page('log-streams/:streamId', () => import('./streams/instance-stream-page.tsx')),
        page('keys', () => import('./keys/keys-page.tsx')),
        page('system', () => import('./system/system-page.tsx')),
        page('mailbox', () => import('./delivery/mailbox-page.tsx')),
        page('organizations/:organizationId?/:tab?', administered),
        page('connections/:connectionId/:tab?', administered),
        { path: '*', element: <Missing /> },
      ],
    },
  ],
  { basename: '/admin' },
);

/** Settles when the script of the first page has loaded, or failed to. */
export const routed: Promise<void> = new Promise((resolve) => {
  if (router.state.initialized) return resolve();
  const stop = router.subscribe(({ initialized }) => {
    if (!initialized) return;
    stop();
    resolve();
  });
});
