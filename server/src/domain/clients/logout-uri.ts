import { isPrivateHost } from '../kernel/network.ts';
import { refuse } from '../kernel/problem.ts';
import type { Checking } from '../kernel/resource.ts';

/** A setting that this server calls. Refuses `invalid`, see {@link checkLogoutUri}. */
export function fetchedUri(uri: string, field: string, { allowPrivateTargets }: Checking): string {
  const reason = checkLogoutUri(uri, allowPrivateTargets);
  return reason === null ? uri : refuse({ code: 'invalid', field, reason });
}

/**
 * The reason why an address that this server calls cannot be registered; null if it can: a back-channel logout URI (OpenID Connect
 * Back-Channel Logout 1.0 §2.2), a key set, a webhook, a log stream. The addresses of a name are checked at each
 * connection.
 *
 * @param allowPrivate also private addresses, and http on loopback
 */
export function checkLogoutUri(uri: string, allowPrivate: boolean): string | null {
  if (uri.length > 2048) return 'is longer than 2,048 characters';
  if (!/^[\x21-\x7e]+$/.test(uri)) return 'contains a space, a control character or a non-ASCII character';
  if (uri.includes('#')) return 'must not have a fragment';
  if (uri.includes('\\')) return 'must not contain a backslash';
  let parsed: URL;
  try {
    parsed = new URL(uri);
  } catch {
    return 'is not an absolute URL';
  }
  if (parsed.username || parsed.password || /^https?:\/\/[^/?]*@/i.test(uri)) return 'must not contain a user name';
  const isReachable = allowPrivate || !isPrivateHost(parsed.hostname);
  if (parsed.protocol === 'https:') return isReachable ? null : 'must have a public address';
  if (parsed.protocol === 'http:' && allowPrivate && isLoopback(parsed.hostname)) return null;
  return allowPrivate ? 'must be https (http only for loopback)' : 'must be https';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
