import type { Request } from 'express';

/**
 * Defence in depth in addition to the CSRF token: Sec-Fetch-Site and Origin, if sent, must name this origin. With the
 * pages' referrer policy, browsers send `Origin: null`.
 */
export function isSameOrigin(req: Request, issuer: string): boolean {
  const site = req.get('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return false;
  const origin = req.get('origin');
  return origin === undefined || origin === 'null' || origin === new URL(issuer).origin;
}
