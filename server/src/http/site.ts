import type { Request, RequestHandler } from 'express';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { Issuers } from '../domain/projects/issuers.ts';
import { type Site, siteOf } from '../domain/projects/site.ts';

/** The host that a request came to, and its issuer: the base issuer, or that of a custom domain. */
export interface RequestSite extends Site {
  issuer: Issuer;
}

const sites = new WeakMap<Request, RequestSite>();

/**
 * The only reader of the Host header: it selects a verified custom domain; all other hosts are the base host. Never
 * X-Forwarded-Host, which proxies pass on from clients: a cache in front would store the responses of one host for
 * another.
 *
 * @param released handles requests at hosts that were custom domains
 */
export function withSite(issuers: Pick<Issuers, 'base' | 'ofHost'>, released: RequestHandler): RequestHandler {
  const base: RequestSite = { ...siteOf(issuers.base.url, null), issuer: issuers.base };
  return async (req, res, next) => {
    const issuer = await issuers.ofHost(req.headers.host ?? '');
    sites.set(req, base);
    if (issuer === 'released') return released(req, res, next);
    if (issuer) sites.set(req, { ...siteOf(issuers.base.url, issuer.url), issuer });
    next();
  };
}

export function siteAt(req: Request): RequestSite {
  const site = sites.get(req);
  if (!site) throw new Error('withSite must come first');
  return site;
}
