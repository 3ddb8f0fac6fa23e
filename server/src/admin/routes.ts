/**
 * The administrators' room: GraphQL at /admin/graphql, exports, the set-up link, the dev mailbox page, the console's
 * page, previews of hosted pages, and the demo. Owns authorization (`@Requires`, `@Access`) and request limits.
 * Not here: what a change does (`domain/`), how an admin signs in (`signin/`), the console itself (`console/admin`).
 * Standards: GraphQL (October 2021), Relay cursor connections, RFC 6750 for bearer tokens.
 */
import { type Request, Router } from 'express';
import type { AuthorizationRequests } from '../domain/ceremonies/authorization-requests.ts';
import type { Random } from '../domain/kernel/random.ts';
import { actorOf } from '../http/context.ts';
import type { Pages } from '../http/pages.ts';
import { type AdminCaller, AdminCallers } from './api/caller.ts';
import { type AdminApi, graphqlRoute } from './api/server.ts';
import { eventExport } from './audit/event-export.ts';
import { experienceRoutes } from './experience/routes.ts';
import { consoleRoutes } from './pages/console.ts';
import { demoRoutes } from './pages/demo.ts';
import { pageHeaders } from './pages/plain.ts';
import { setupRoutes } from './pages/setup.ts';
import { userExport } from './users/user-export.ts';

export interface AdminDeps extends AdminApi {
  random: Random;
  requests: AuthorizationRequests;
  pages: Pick<Pages, 'send' | 'text'>;
  /** Folder of the console's build. */
  consoleDist: string;
}

export async function adminRoutes(deps: AdminDeps): Promise<Router> {
  const callers = new AdminCallers(deps.db, deps.audit, deps.admins, deps.sessions, deps.bootstrapToken);
  const callerOf = (req: Request): Promise<AdminCaller | null> =>
    callers.identify(
      { authorization: undefined, sessionSecret: (projectId) => deps.sessionSecret(req, projectId) },
      actorOf(req),
    );
  const tokenOrSession = (req: Request): Promise<AdminCaller | null> =>
    callers.identify(
      {
        authorization: req.get('authorization'),
        sessionSecret: (projectId) => deps.sessionSecret(req, projectId),
      },
      actorOf(req),
    );
  const { mailbox, experiences } = deps.domain;
  const router = Router();
  router.use('/admin', await graphqlRoute(deps));
  router.use('/admin', eventExport({ ...deps, callerOf: tokenOrSession }));
  router.use('/admin', userExport({ ...deps, callerOf: tokenOrSession }));
  router.use(
    '/admin',
    experienceRoutes({ ...deps, experiences, now: () => deps.clock.now(), callerOf: tokenOrSession }),
  );
  router.use('/admin', pageHeaders, consoleRoutes({ ...deps, hasMailbox: mailbox !== null, callerOf }));
  router.use('/setup', pageHeaders, setupRoutes({ ...deps, mailbox, callerOf }));
  router.use('/demo', pageHeaders, demoRoutes(deps));
  return router;
}
