/**
 * Administration: GraphQL at /admin/graphql, exports, the setup link, the dev mailbox page, the console's
 * page, previews of hosted pages, and the demo. Owns authorization (`@Requires`, `@Access`) and request limits.
 * Not here: the changes themselves (`domain/`), the sign-in of admins (`signin/`), the console (`console/admin`).
 * Standards: GraphQL (October 2021), Relay cursor connections, RFC 6750 for bearer tokens.
 */
import type { Request, Response } from 'express';
import type { AdminClients } from '../domain/admins/admin-clients.ts';
import type { Admins } from '../domain/admins/admins.ts';
import type { Audit } from '../domain/audit/audit.ts';
import type { AuthorizationRequests } from '../domain/ceremonies/requests/authorization-requests.ts';
import { maxLogoBytes } from '../domain/experience/logo-file.ts';
import { dpopAlgorithms } from '../domain/kernel/openid.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import type { Random } from '../domain/kernel/random.ts';
import type { PoolTurns, Turns } from '../domain/limits/turns.ts';
import type { Sessions } from '../domain/sessions/sessions.ts';
import { actorOf } from '../http/context.ts';
import { type DpopDeps, proofOf } from '../http/dpop.ts';
import type { Pages } from '../http/pages.ts';
import { noStore, type Route } from '../http/routes/route.ts';
import { AdminCallers, accountHeader } from './api/caller.ts';
import type { AdminApi } from './api/operations.ts';
import {
  type CallerOf,
  type GraphqlEndpoint,
  graphqlBody,
  graphqlEndpoint,
  graphqlErrors,
  onlyJson,
} from './api/server.ts';
import { eventExport } from './audit/event-export.ts';
import { logoUpload, preview, refusals } from './experience/routes.ts';
import { consoleCallback, consolePage, consoleSignIn } from './pages/console.ts';
import { demoConfig, demoPage } from './pages/demo.ts';
import { pageHeaders } from './pages/plain.ts';
import {
  mailboxContent,
  mailboxPage,
  mayReadMailbox,
  ownOrigin,
  setupBody,
  setupForm,
  setupPage,
} from './pages/setup.ts';
import { userExport, userListExport } from './users/user-export.ts';

export interface AdminDeps extends Omit<AdminApi, 'turns'> {
  dpop: DpopDeps;
  audit: Audit;
  admins: Admins;
  adminClients: AdminClients;
  sessions: Sessions;
  random: Random;
  requests: AuthorizationRequests;
  pages: Pick<Pages, 'send' | 'text'>;
  /** Folder of the console's build. */
  consoleDist: string;
  poolTurns: PoolTurns;
  /** Absent: no bootstrap token is accepted. */
  bootstrapToken: string | undefined;
  /** The secret of a project's session cookie, as the browser sent it. */
  sessionSecret(req: Request, projectId: string): string | undefined;
}

/** Connections of one caller that wait at most, before its further requests are refused. */
const maxWaiting = 1000;

/** Dependencies of the routes of the admin API and of the console's pages. */
export interface AdminService extends AdminDeps {
  turns: Turns;
  graphql: GraphqlEndpoint;
  bySession: CallerOf;
  byTokenOrSession: CallerOf;
}

export function adminService(deps: AdminDeps): AdminService {
  const callers = new AdminCallers(deps);
  const identify = (req: Request, authorization: string | undefined) =>
    callers
      .identify(
        {
          authorization,
          sessionSecret: (projectId) => deps.sessionSecret(req, projectId),
          account: req.get(accountHeader),
          proof: (token) => {
            const url = `${deps.issuer}${req.originalUrl.split('?')[0]}`;
            return proofOf(deps.dpop, req, req.res as Response, url, token);
          },
        },
        actorOf(req),
      )
      .catch((error: unknown) => challenged(error, req.res as Response));
  const bySession: CallerOf = (req) => identify(req, undefined);
  const byTokenOrSession: CallerOf = (req) => identify(req, req.get('authorization'));
  const turns = deps.poolTurns.ofCallers(maxWaiting);
  const graphql = graphqlEndpoint({ ...deps, turns }, byTokenOrSession);
  return { ...deps, turns, graphql, bySession, byTokenOrSession };
}

type AdminRoute = Route<AdminService>;

const openApi = 'GraphQL and downloads of the admin API';
/** A request of the console or of an application, with errors in the shape of GraphQL's. */
const ofApi = { errors: () => refusals } as const;
/** A page below /admin, /setup or /demo. */
const page = (path: string, methods: AdminRoute['methods'], more: Partial<AdminRoute> = {}): AdminRoute => ({
  path,
  methods,
  headers: pageHeaders,
  ...more,
});

const exportDeps = (service: AdminService) => ({
  ...service,
  callerOf: service.byTokenOrSession,
  customAttributes: service.domain.customAttributes,
});
const experienceDeps = (service: AdminService) => ({
  ...service,
  experiences: service.domain.experiences,
  now: () => service.clock.now(),
  callerOf: service.byTokenOrSession,
});
const consoleDeps = (service: AdminService) => ({
  ...service,
  clients: service.domain.clients,
  hasMailbox: service.domain.mailbox !== null,
  version: service.domain.systemStatus.version,
  callerOf: service.bySession,
});
const setupDeps = (service: AdminService) => ({
  ...service,
  clients: service.domain.clients,
  mailbox: service.domain.mailbox,
  callerOf: service.bySession,
});
const mailboxChecks = (service: AdminService) => [mayReadMailbox(setupDeps(service))];

export const adminRoutes: readonly AdminRoute[] = [
  {
    path: '/admin/graphql',
    methods: {
      POST: {
        checks: ({ graphql }) => [onlyJson, graphql.authenticate],
        body: graphqlBody,
        handler: ({ graphql }) => graphql.handle,
        openApi,
      },
    },
    headers: noStore,
    errors: () => graphqlErrors,
  },
  {
    path: '/admin/export/events',
    methods: { GET: { handler: (service) => eventExport(exportDeps(service)), openApi } },
    ...ofApi,
  },
  {
    path: '/admin/export/users',
    methods: { GET: { handler: (service) => userListExport(exportDeps(service)), openApi } },
    ...ofApi,
  },
  {
    path: '/admin/export/users/:id',
    methods: { GET: { handler: (service) => userExport(exportDeps(service)), openApi } },
    ...ofApi,
  },
  {
    path: '/admin/projects/:projectId/logos',
    methods: {
      POST: {
        body: { maxBytes: maxLogoBytes },
        handler: (service) => logoUpload(experienceDeps(service)),
        openApi,
      },
    },
    ...ofApi,
  },
  {
    path: '/admin/preview/:page',
    methods: { GET: { handler: (service) => preview(experienceDeps(service)), openApi } },
    ...ofApi,
  },
  page('/admin/callback', { GET: { handler: () => consoleCallback, openApi: 'page' } }),
  page('/admin/sign-in', { GET: { handler: (service) => consoleSignIn(consoleDeps(service)), openApi: 'page' } }),
  page(
    '/admin{/*path}',
    { GET: { handler: (service) => consolePage(consoleDeps(service)), openApi: 'page' } },
    { label: '/admin/*' },
  ),
  page('/setup', {
    GET: { handler: (service) => setupPage(setupDeps(service)), openApi: 'page' },
    POST: {
      checks: ({ issuer }) => [ownOrigin(issuer)],
      body: setupBody,
      handler: (service) => setupForm(setupDeps(service)),
      openApi: 'page',
    },
  }),
  page('/setup/mailbox', {
    GET: { checks: mailboxChecks, handler: (service) => mailboxPage(setupDeps(service)), openApi: 'page' },
  }),
  page('/setup/mailbox.json', {
    GET: { checks: mailboxChecks, handler: (service) => mailboxContent(setupDeps(service)), openApi: 'page' },
  }),
  page('/demo', {
    GET: { handler: (service) => demoPage({ ...service, clients: service.domain.clients }), openApi: 'page' },
  }),
  page('/demo/config.json', {
    GET: { handler: (service) => demoConfig({ ...service, clients: service.domain.clients }), openApi: 'page' },
  }),
];

/** Null for a token whose DPoP proof is refused, with the reason in the challenge (RFC 9449 §7.1 and §9). */
function challenged(error: unknown, res: Response): null {
  const code = error instanceof Refusal ? error.problem.code : undefined;
  if (code !== 'proof-rejected' && code !== 'nonce-rejected') throw error;
  const reason = code === 'nonce-rejected' ? 'use_dpop_nonce' : 'invalid_dpop_proof';
  res.setHeader('WWW-Authenticate', `DPoP error="${reason}", algs="${dpopAlgorithms.join(' ')}"`);
  return null;
}
