import type { Request, Response } from 'express';
import { inProject } from '../domain/kernel/scope.ts';
import type { EndedSessions } from '../domain/logout/logout.ts';
import type { Session } from '../domain/sessions/session.entity.ts';
import type { Cookies } from '../http/cookies.ts';
import { logoutPages } from '../http/plain/logout-pages.ts';
import type { SamlDeps } from './routes.ts';
import { type AfterLogout, notifyOthers, type SingleLogoutDeps } from './single-logout.ts';
import { answerLogout, type SloDeps } from './slo.ts';
import type { SsoDeps } from './sso.ts';

/** Values of `after` for a logout that no SAML application asked for. */
type AfterPage = Omit<AfterLogout & { kind: 'page' }, 'kind'>;

export interface SamlServiceDeps
  extends SsoDeps,
    Omit<SloDeps, 'singleLogout' | 'heldSession' | 'registry' | 'samlKeys' | 'errorPage'>,
    Omit<
      SingleLogoutDeps,
      'logoutPages' | 'answer' | 'projectOf' | 'registry' | 'samlLogout' | 'samlKeys' | 'errorPage'
    >,
    Pick<SamlDeps, 'samlKeys'> {
  cookies: SsoDeps['cookies'] & Pick<Cookies, 'session'>;
  samlKeys: SsoDeps['samlKeys'] & SamlDeps['samlKeys'];
  samlLogout: SloDeps['samlLogout'] & SingleLogoutDeps['samlLogout'];
  pages: Parameters<typeof logoutPages>[0]['pages'];
  projectOf: Parameters<typeof logoutPages>[0]['projectOf'];
  experienceOf: Parameters<typeof logoutPages>[0]['experienceOf'];
  liveSession(projectId: string, secret: string): Promise<Session | null>;
}

/** The endpoints, and single logout for the other protocols. */
export function samlService(deps: SamlServiceDeps) {
  const singleLogout: SingleLogoutDeps = {
    ...deps,
    logoutPages: logoutPages(deps),
    answer: (req, res, client, after) => answerLogout(deps, req, res, client, after),
  };
  const heldSession = async (req: Request, projectId: string) => {
    const secret = deps.cookies.session(req, projectId);
    return secret === undefined ? undefined : (await deps.liveSession(projectId, secret))?.id;
  };
  const routes: SamlDeps = {
    sso: deps,
    slo: { ...deps, singleLogout, heldSession },
    singleLogout,
    samlKeys: deps.samlKeys,
  };
  const notify = async (
    req: Request,
    res: Response,
    { projectId, sessions }: { projectId: string; sessions: EndedSessions },
    after: AfterPage,
  ): Promise<boolean> => {
    const participants = await inProject(projectId, () => deps.samlLogout.participants(projectId, sessions));
    return notifyOthers(singleLogout, req, res, { projectId, participants, after: { kind: 'page', ...after } });
  };
  return { routes, notify };
}
