/**
 * Administration: GraphQL at /admin/graphql, exports, the setup link, the dev mailbox page, the console's
 * page, previews of hosted pages, and the demo. Owns authorization (`@Requires`, `@Access`) and request limits.
 * Not here: the changes themselves (`domain/`), the sign-in of admins (`signin/`), the console (`console/admin`).
 * Standards: GraphQL (October 2021), Relay cursor connections, RFC 6750 for bearer tokens.
 */
import { type Request, type Response, Router } from 'express';
import type { AdminClients } from '../domain/admins/admin-clients.ts';
import type { Admins } from '../domain/admins/admins.ts';
import type { Audit } from '../domain/audit/audit.ts';
import type { AuthorizationRequests } from '../domain/ceremonies/requests/authorization-requests.ts';
import { dpopAlgorithms } from '../domain/kernel/openid.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import type { Random } from '../domain/kernel/random.ts';
import type { PoolTurns } from '../domain/limits/turns.ts';
import type { Sessions } from '../domain/sessions/sessions.ts';
import { actorOf } from '../http/context.ts';
import { type DpopDeps, proofOf } from '../http/dpop.ts';
import type { Pages } from '../http/pages.ts';
import { AdminCallers, accountHeader } from './api/caller.ts';
import { type AdminApi, type CallerOf, graphqlRoute } from './api/server.ts';
import { eventExport } from './audit/event-export.ts';
import { experienceRoutes } from './experience/routes.ts';
import { consoleRoutes } from './pages/console.ts';
import { demoRoutes } from './pages/demo.ts';
import { pageHeaders } from './pages/plain.ts';
import { setupRoutes } from './pages/setup.ts';
import { userExport } from './users/user-export.ts';

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

export async function adminRoutes(deps: AdminDeps): Promise<Router> {
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
  const { clients, customAttributes, mailbox, experiences, system } = deps.domain;
  const turns = deps.poolTurns.ofCallers(maxWaiting);
  const router = Router();
  router.use('/admin', await graphqlRoute({ ...deps, turns }, byTokenOrSession));
  router.use('/admin', eventExport({ ...deps, turns, callerOf: byTokenOrSession }));
  router.use('/admin', userExport({ ...deps, turns, customAttributes, callerOf: byTokenOrSession }));
  router.use(
    '/admin',
    experienceRoutes({ ...deps, experiences, now: () => deps.clock.now(), callerOf: byTokenOrSession }),
  );
  router.use(
    '/admin',
    pageHeaders,
    consoleRoutes({
      ...deps,
      clients,
      hasMailbox: mailbox !== null,
      version: system.version,
      callerOf: bySession,
    }),
  );
  router.use('/setup', pageHeaders, setupRoutes({ ...deps, clients, mailbox, callerOf: bySession }));
  router.use('/demo', pageHeaders, demoRoutes({ ...deps, clients }));
  return router;
}

/** Null for a token whose DPoP proof is refused, with the reason in the challenge (RFC 9449 §7.1 and §9). */
function challenged(error: unknown, res: Response): null {
  const code = error instanceof Refusal ? error.problem.code : undefined;
  if (code !== 'proof-rejected' && code !== 'nonce-rejected') throw error;
  const reason = code === 'nonce-rejected' ? 'use_dpop_nonce' : 'invalid_dpop_proof';
  res.setHeader('WWW-Authenticate', `DPoP error="${reason}", algs="${dpopAlgorithms.join(' ')}"`);
  return null;
}
