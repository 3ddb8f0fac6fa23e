import type { World } from './world.ts';

/** A page to capture. */
export interface Shot {
  name: string;
  path: string;
  /** Data state: loaded (default), loading, or failed. */
  data?: 'loading' | 'error';
  /** Whether the browser is signed out. */
  anonymous?: boolean;
}

/** All pages of the console, the hosted page and the account page: with data, empty, loading and failing. */
export function shots({
  projectId,
  emptyProjectId,
  clientId,
  bareClientId,
  closedClientId,
  userId,
  bareUserId,
  groupId,
  organizationId,
  bareOrganizationId,
  connectionId,
  draftConnectionId,
  samlConnectionId,
  samlClientId,
  webhookId,
  streamId,
  issuer,
}: World): Shot[] {
  const project = (id: string, path: string) => `/admin/projects/${id}/${path}`;
  const inProject = [
    ...['overview', 'applications', 'apis', 'users', 'groups', 'organizations', 'directory', 'experience', 'factors'],
    'connections',
    'enterprise-credentials',
    ...[
      'session-policy',
      'events',
      'troubleshooting',
      'messages',
      'messages/templates',
      'messages/sending',
      'webhooks',
      'log-streams',
      'logout-deliveries',
      'team',
    ],
    'settings',
  ];
  const withData: Shot[] = [
    ...['projects', 'team', 'audit', 'keys', 'system', 'explorer', 'mailbox'].map((name) => ({
      name,
      path: `/admin/${name}`,
    })),
    { name: 'projects-create', path: '/admin/projects?new' },
    ...inProject.map((name) => ({ name: `project-${name.replace('/', '-')}`, path: project(projectId, name) })),
    { name: 'application-create', path: project(projectId, 'applications/new') },
    ...['', 'settings', 'keys', 'tokens', 'security', 'apis', 'roles', 'access', 'claims', 'events', 'danger'].map(
      (tab) => ({
        name: `application-${tab || 'quickstart'}`,
        path: project(projectId, `applications/${clientId}${tab && `/${tab}`}`),
      }),
    ),
    { name: 'empty-application-access', path: project(projectId, `applications/${bareClientId}/access`) },
    { name: 'closed-application-access', path: project(projectId, `applications/${closedClientId}/access`) },
    { name: 'applications-introduced', path: project(projectId, 'applications/introduced') },
    { name: 'users-sign-ups', path: project(projectId, 'users/sign-ups') },
    { name: 'empty-users-sign-ups', path: project(emptyProjectId, 'users/sign-ups') },
    { name: 'users-import', path: project(projectId, 'users/import') },
    { name: 'user', path: project(projectId, `users/${userId}`) },
    { name: 'empty-user', path: project(projectId, `users/${bareUserId}`) },
    { name: 'group', path: project(projectId, `groups/${groupId}`) },
    { name: 'organization-roles', path: project(projectId, 'organizations/roles') },
    { name: 'empty-organization-roles', path: project(emptyProjectId, 'organizations/roles') },
    ...['', 'invitations', 'domains', 'connections', 'directory', 'portal', 'settings', 'events', 'danger'].map(
      (tab) => ({
        name: `organization-${tab || 'people'}`,
        path: project(projectId, `organizations/${organizationId}${tab && `/${tab}`}`),
      }),
    ),
    ...['invitations', 'domains', 'connections', 'portal'].map((tab) => ({
      name: `empty-organization-${tab}`,
      path: project(projectId, `organizations/${bareOrganizationId}/${tab}`),
    })),
    { name: 'empty-organization-people', path: project(projectId, `organizations/${bareOrganizationId}`) },
    ...['', 'settings', 'events', 'danger'].map((tab) => ({
      name: `connection-${tab || 'overview'}`,
      path: project(projectId, `connections/${connectionId}${tab && `/${tab}`}`),
    })),
    { name: 'draft-connection', path: project(projectId, `connections/${draftConnectionId}`) },
    ...['', 'settings'].map((tab) => ({
      name: `saml-connection-${tab || 'overview'}`,
      path: project(projectId, `connections/${samlConnectionId}${tab && `/${tab}`}`),
    })),
    ...['', 'settings'].map((tab) => ({
      name: `saml-application-${tab || 'setup'}`,
      path: project(projectId, `applications/${samlClientId}${tab && `/${tab}`}`),
    })),
    { name: 'saml-application-create', path: project(projectId, 'applications/saml') },
    { name: 'webhook', path: project(projectId, `webhooks/${webhookId}`) },
    { name: 'log-stream', path: project(projectId, `log-streams/${streamId}`) },
    { name: 'instance-log-streams', path: '/admin/log-streams' },
    { name: 'events-filtered', path: project(projectId, 'events?group=sign-in&result=FAILURE&period=month') },
    { name: 'missing', path: '/admin/nowhere' },
  ];
  const empty = inProject.map((name) => ({
    name: `empty-${name.replace('/', '-')}`,
    path: project(emptyProjectId, name),
  }));
  const states = ['overview', 'users', 'events', 'directory', 'logout-deliveries'].flatMap((name): Shot[] => [
    { name: `loading-${name}`, path: project(projectId, name), data: 'loading' },
    { name: `error-${name}`, path: project(projectId, name), data: 'error' },
  ]);
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  const authorize = new URLSearchParams({
    ...{ response_type: 'code', client_id: clientId, scope: 'openid email', code_challenge: challenge },
    ...{ code_challenge_method: 'S256', redirect_uri: 'https://portal.northwind.example/callback', state: 'x' },
  });
  const hosted: Shot[] = [
    { name: 'sign-in', path: `/authorize?${authorize}`, anonymous: true },
    { name: 'sign-in-refused', path: '/authorize?client_id=nobody', anonymous: true },
    { name: 'account', path: '/account' },
    { name: 'start', path: '/', anonymous: true },
    { name: 'not-found', path: '/nowhere', anonymous: true },
    { name: 'demo', path: '/demo', anonymous: true },
  ];
  return [...withData, ...empty, ...states, ...hosted].map((shot) => ({ ...shot, path: issuer + shot.path }));
}
