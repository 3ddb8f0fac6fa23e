import type { Request, RequestHandler, Response } from 'express';
import type { Impersonations } from '../domain/support/impersonations.ts';
import { issuerOf } from '../http/issuer.ts';
import { parametersOf } from '../http/parameters.ts';
import { siteAt } from '../http/site.ts';

export interface ImpersonateDeps {
  impersonations: Pick<Impersonations, 'open'>;
  cookies: { setImpersonation(res: Response, projectId: string, secret: string, maxAgeSeconds: number): void };
  errorPage(req: Request, res: Response, status: number, reason: 'flow-expired'): void | Promise<void>;
}

/** `GET {issuer}/impersonate?token=…`: the link that an admin got; single use. It leads to the application. */
export function impersonateEndpoint(deps: ImpersonateDeps): RequestHandler {
  return async (req, res) => {
    const issuer = issuerOf(req);
    const token = parametersOf(req).get('token');
    const opened = token === undefined ? null : await deps.impersonations.open(issuer, token, siteAt(req).domain);
    if (!opened || issuer.project === null) return deps.errorPage(req, res, 400, 'flow-expired');
    deps.cookies.setImpersonation(res, issuer.project.id, opened.secret, opened.seconds);
    res.redirect(303, opened.start);
  };
}
