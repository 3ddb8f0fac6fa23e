import type { CookieOptions, Request, Response } from 'express';
import { renewableSeconds, requestTtlSeconds } from '../domain/ceremonies/requests/authorization-requests.ts';
import { presented } from '../domain/sessions/sessions.ts';
import { siteAt } from './site.ts';

/** A flow can begin again in its browser after it has expired. */
const flowSeconds = requestTtlSeconds + renewableSeconds;
/** Time to type the user code of a device. */
const deviceSeconds = 35 * 60;
/** Concurrent flows per browser. Beyond this limit, the oldest cookie is dropped, to bound the size of the header. */
const maxFlows = 12;
/** Sessions per browser, one per project, limited in the same way. Bounds the lookups of a request with forged cookies. */
const maxSessions = 32;
/** Lifetime of a setup link. */
const setupSeconds = 15 * 60;

const flowPrefix = 'lk-flow-';

/**
 * Cookies of the browser: one per project for its SSO session, one per flow of the hosted page. Each holds a secret, stored
 * as a hash in the database. HttpOnly, SameSite=Lax, and without Domain: each host has its own.
 */
export class Cookies {
  private readonly secure: boolean;

  /** @param issuer with https, names get the `__Host-` prefix, so that subdomains cannot set them (RFC 6265bis §4.1.3) */
  constructor(issuer: string) {
    this.secure = issuer.startsWith('https://');
  }

  session(req: Request, projectId: string): string | undefined {
    const secret = readCookie(req, this.sessionName(projectId));
    return secret === undefined ? undefined : presented(secret, siteAt(req).domain);
  }

  /** Session cookies of this browser, one per project. */
  sessions(req: Request): { projectId: string; secret: string }[] {
    const prefix = this.sessionName('');
    const all = cookiesOf(req);
    const names = new Set(all.map(([name]) => name).filter((name) => name.startsWith(prefix)));
    const { domain } = siteAt(req);
    return [...names].slice(-maxSessions).flatMap((name) => {
      const secret = onlyOne(all, name);
      return secret === undefined ? [] : [{ projectId: name.slice(prefix.length), secret: presented(secret, domain) }];
    });
  }

  setSession(res: Response, projectId: string, secret: string, maxAgeSeconds?: number): void {
    const own = this.sessionName(projectId);
    this.dropOldest(res, this.sessionName(''), { max: maxSessions, besides: own });
    this.set(res, own, secret, maxAgeSeconds);
  }

  clearSession(res: Response, projectId: string): void {
    this.set(res, this.sessionName(projectId), '', 0);
  }

  /** Secret of the impersonation in this browser; see `presented`. */
  impersonation(req: Request, projectId: string): string | undefined {
    const secret = readCookie(req, this.named(`lk-impersonation-${projectId}`));
    return secret === undefined ? undefined : presented(secret, siteAt(req).domain);
  }

  setImpersonation(res: Response, projectId: string, secret: string, maxAgeSeconds: number): void {
    this.set(res, this.named(`lk-impersonation-${projectId}`), secret, maxAgeSeconds);
  }

  flow(req: Request, flow: string): string | undefined {
    return readCookie(req, this.flowName(flow));
  }

  setFlow(res: Response, flow: string, secret: string): void {
    const own = this.flowName(flow);
    this.dropOldest(res, this.named(flowPrefix), { max: maxFlows, besides: own });
    this.set(res, own, secret, flowSeconds);
  }

  clearFlow(res: Response, flow: string): void {
    this.set(res, this.flowName(flow), '', 0);
  }

  /** Token of a setup link, kept until its holder has signed in. */
  setup(req: Request): string | undefined {
    return readCookie(req, this.named('lk-setup'));
  }

  setSetup(res: Response, token: string): void {
    this.set(res, this.named('lk-setup'), token, setupSeconds);
  }

  /** Secret of a session of the set-up portal; at most one in a browser. */
  portal(req: Request): string | undefined {
    return readCookie(req, this.named('lk-portal'));
  }

  setPortal(res: Response, secret: string, maxAgeSeconds: number): void {
    this.set(res, this.named('lk-portal'), secret, maxAgeSeconds);
  }

  /** Secret of the form for user codes of devices: another site cannot submit it. */
  deviceForm(req: Request): string | undefined {
    return readCookie(req, this.named('lk-device'));
  }

  setDeviceForm(res: Response, secret: string): void {
    this.set(res, this.named('lk-device'), secret, deviceSeconds);
  }

  private sessionName(projectId: string): string {
    return this.named(`lk-session-${projectId}`);
  }

  /** Uses the start of the flow handle, which the URL contains anyway, to keep flows of several tabs apart. */
  private flowName(flow: string): string {
    return this.named(`${flowPrefix}${flow.replace(/[^A-Za-z0-9_-]/g, '').slice(0, 16)}`);
  }

  /** Makes room for one more cookie. Browsers send the oldest first (RFC 6265 §5.4). */
  private dropOldest(res: Response, prefix: string, { max, besides }: { max: number; besides: string }): void {
    const held = cookiesOf(res.req).filter(([name]) => name.startsWith(prefix) && name !== besides);
    for (const [name] of held.slice(0, Math.max(0, held.length - max + 1))) this.set(res, name, '', 0);
  }

  private named(name: string): string {
    return this.secure ? `__Host-${name}` : name;
  }

  private set(res: Response, name: string, value: string, maxAgeSeconds?: number): void {
    const options: CookieOptions = { httpOnly: true, secure: this.secure, sameSite: 'lax', path: '/' };
    res.cookie(name, value, maxAgeSeconds === undefined ? options : { ...options, maxAge: maxAgeSeconds * 1000 });
  }
}

/** Names with leading spaces and tabs removed, no others: subdomains can set a no-break space and `__Host-…` as a name. */
function cookiesOf(req: Request): [name: string, value: string][] {
  return (req.get('cookie') ?? '').split(';').map((pair) => {
    const [name = '', ...value] = pair.replace(/^[ \t]+/, '').split('=');
    return [name, value.join('=')];
  });
}

function readCookie(req: Request, name: string): string | undefined {
  return onlyOne(cookiesOf(req), name);
}

/** A cookie by name; undefined if it was sent twice, or does not have the form of our secrets. */
function onlyOne(cookies: readonly [name: string, value: string][], name: string): string | undefined {
  const [found, ...others] = cookies.filter(([one]) => one === name);
  const value = found?.[1] ?? '';
  return others.length === 0 && /^[\w-]+$/.test(value) ? value : undefined;
}
