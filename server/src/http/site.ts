import type { Request, RequestHandler } from 'express';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { Issuers } from '../domain/projects/issuers.ts';
import { type Site, siteOf } from '../domain/projects/site.ts';

/** The host that a request came to, and its issuer: the base issuer, or that of a custom domain. */
export interface RequestSite extends Site {
  issuer: Issuer;
}

const sites = new WeakMap<Request, RequestSite>();
/** Why the site of a request is unknown. */
const faults = new WeakMap<Request, unknown>();

/**
 * The only reader of the Host header: it selects a verified custom domain; all other hosts are the base host. Never
 * X-Forwarded-Host, which proxies pass on from clients: a cache in front would store the responses of one host for
 * another. If the lookup fails, the matched route fails with its error, or {@link siteAt}.
 *
 * @param released handles requests at hosts that were custom domains
 */
export function withSite(issuers: Pick<Issuers, 'base' | 'ofHost'>, released: RequestHandler): RequestHandler {
  const base: RequestSite = { ...siteOf(issuers.base.url, null), issuer: issuers.base };
  const address = new URL(issuers.base.url);
  return async (req, res, next) => {
    if (isStray(req, address)) return res.redirect(307, `${address.origin}${req.originalUrl}`);
    let issuer: Issuer | 'released' | null;
    try {
      issuer = await issuers.ofHost(req.headers.host ?? '');
    } catch (error) {
      faults.set(req, error);
      return next();
    }
    sites.set(req, base);
    if (issuer === 'released') return released(req, res, next);
    if (issuer) sites.set(req, { ...siteOf(issuers.base.url, issuer.url), issuer });
    next();
  };
}

export function siteAt(req: Request): RequestSite {
  const site = sites.get(req);
  if (faults.has(req)) throw siteFault(req);
  if (!site) throw new Error('withSite must come first');
  return site;
}

/** The error of a failed lookup; undefined for a known site. */
export function siteFault(req: Request): unknown {
  return faults.get(req);
}

/**
 * Whether the host in the request differs from that of its site, without a custom domain: a wrong address, or a proxy
 * that sends its own name. The page of an ended sign-in then names the right address; it never redirects there.
 */
export function isElsewhere(req: Request): boolean {
  const { domain, origin } = siteAt(req);
  const { host = '', forwarded, 'x-forwarded-host': forwardedHost } = req.headers;
  if (domain !== null || forwarded || forwardedHost) return false;
  return host.toLowerCase() !== new URL(origin).host;
}

const loopback = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether a browser opens a page at a loopback name other than that of the base address, such as 127.0.0.1 for
 * localhost: cookies, the Content-Security-Policy and origin checks bind pages to one origin. A proxy could send its
 * own name for the server: then the response is the page, not a redirect to where the browser is already.
 */
function isStray(req: Request, { hostname, port }: URL): boolean {
  const { host = '', forwarded, 'x-forwarded-host': forwardedHost } = req.headers;
  if (req.method !== 'GET' || !loopback.includes(hostname) || forwarded || forwardedHost) return false;
  const [, name = '', at = ''] = /^(.*?)(?::(\d+))?$/.exec(host.toLowerCase()) ?? [];
  const isOther = name !== hostname && loopback.includes(name) && at === port;
  return isOther && req.originalUrl.startsWith('/') && req.accepts(['json', 'html']) === 'html';
}
