/**
 * Redirect URIs (RFC 6749 §3.1.2, RFC 8252 §7, RFC 9700 §4.1): compared exactly, except for the port of a loopback
 * address, which native apps choose at run time.
 */

const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::([0-9]{1,5}))?((?:[/?].*)?)$/;

/** A private-use scheme of a native app: a domain name in reverse, so with a dot (RFC 8252 §7.1). */
const appScheme = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:\//;

/** Whether an app receives the redirect by its own scheme. */
export function hasAppScheme(uri: string): boolean {
  return appScheme.test(uri);
}

/**
 * The reason why an address cannot be registered; null if it can.
 *
 * @param apps whether an app may receive the redirect by its own scheme
 */
export function checkRedirectUri(uri: string, apps: 'with apps' | 'without apps' = 'without apps'): string | null {
  if (uri.length > 2048) return 'is longer than 2,048 characters';
  // Refuses everything that browsers and URL parsers could read differently.
  if (!/^[\x21-\x7e]+$/.test(uri)) return 'contains a space, a control character or a non-ASCII character';
  if (/[\\"<>^`{|}]|%(?![0-9a-f]{2})/i.test(uri)) return 'contains a character that must be percent-encoded';
  if (uri.includes('#')) return 'must not have a fragment (RFC 6749 §3.1.2)';
  if (uri.includes('*')) return 'must not contain a wildcard: URIs must match exactly';
  let parsed: URL;
  try {
    parsed = new URL(uri);
  } catch {
    return 'is not an absolute URL';
  }
  if (apps === 'with apps' && hasAppScheme(uri)) return hasDotSegment(uri) ? 'must not contain dot segments' : null;
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') {
    return apps === 'with apps'
      ? 'must be https, http for loopback, or com.example.app:/… for apps'
      : 'must be https (http only for loopback)';
  }
  if (parsed.username || parsed.password || /^https?:\/\/[^/?]*@/i.test(uri)) return 'must not contain a user name';
  if (parsed.protocol === 'http:' && !loopback.test(uri)) return 'must be https (http only for loopback)';
  if (hasDotSegment(uri)) return 'must not contain dot segments';
  // URL parsers allow sub-delimiters in host names, which DNS does not, and which have a meaning in other headers.
  if (!/^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(parsed.hostname)) return 'must have a DNS name or an IP address as host';
  if (!isWrittenAs(uri, parsed)) return `must be written as ${parsed.protocol}//${parsed.host}…`;
  return null;
}

/**
 * Whether a browser may be redirected there: https, or http to a loopback address. Registered URIs are checked again at
 * use.
 */
export function isReturnable(uri: string): boolean {
  return uri.startsWith('https://') || loopback.test(uri);
}

/** True if `presented` equals one of `registered`, ignoring the port of a loopback address. */
export function matchesRedirectUri(registered: readonly string[], presented: string): boolean {
  if (!isReturnable(presented) && !hasAppScheme(presented)) return false;
  if (registered.includes(presented)) return true;
  const given = loopback.exec(presented);
  if (!given || !isPort(given[2])) return false;
  return registered.some((uri) => {
    const known = loopback.exec(uri);
    return known !== null && known[1] === given[1] && known[3] === given[3];
  });
}

/**
 * Where the users of an application can start: its start address, else the origin of its redirect URIs, of loopback addresses
 * only if it has no others. Null: none, several, or the port that a native app listens on.
 */
export function startOf({
  kind,
  startUri,
  redirectUris,
}: {
  kind?: string | null;
  startUri?: string | null;
  redirectUris: readonly string[];
}): string | null {
  if (startUri != null) return isReturnable(startUri) ? startUri : null;
  const returnable = redirectUris.filter(isReturnable);
  const published = returnable.filter((uri) => !loopback.test(uri));
  const local = kind === 'native' ? [] : returnable;
  const [only, another] = new Set((published.length > 0 ? published : local).map((uri) => new URL(uri).origin));
  return only === undefined || another !== undefined ? null : `${only}/`;
}

/** Whether CORS allows the origin: it must be the origin of a redirect URI of the client. */
export function isAllowedOrigin(redirectUris: readonly string[], origin: string): boolean {
  if (redirectUris.some((uri) => isReturnable(uri) && new URL(uri).origin === origin)) return true;
  const given = loopback.exec(origin);
  if (!given || given[3] !== '' || !isPort(given[2])) return false;
  return redirectUris.some((uri) => loopback.exec(uri)?.[1] === given[1]);
}

function isPort(port: string | undefined): boolean {
  return port === undefined || (Number(port) > 0 && Number(port) < 65_536);
}

function hasDotSegment(uri: string): boolean {
  const path = uri.replace(/^[a-z0-9.-]+:(?:\/\/[^/?]*)?/i, '').split('?')[0] ?? '';
  return path
    .replace(/%2e/gi, '.')
    .split('/')
    .some((segment) => /^\.{1,2}(;.*)?$/.test(segment));
}

/** Whether scheme and host are in normal form; the default port may be present. */
function isWrittenAs(uri: string, { protocol, host }: URL): boolean {
  const [origin] = /^[^/]*\/\/[^/?]*/.exec(uri) ?? [''];
  return [`${protocol}//${host}`, `${protocol}//${host}${protocol === 'https:' ? ':443' : ':80'}`].includes(origin);
}
