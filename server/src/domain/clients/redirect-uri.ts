/**
 * Redirect URIs (RFC 6749 §3.1.2, RFC 8252 §7.3, RFC 9700 §4.1): registered whole and compared letter by letter. The
 * one exception is the port of a loopback address, which native apps choose when they run.
 */

const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::([0-9]{1,5}))?((?:[/?].*)?)$/;

/** Why an address cannot be registered; null if it can. */
export function checkRedirectUri(uri: string): string | null {
  if (uri.length > 2048) return 'is longer than 2,048 characters';
  // Whatever a browser and a parser could read differently is refused here, so that it never has to be compared.
  if (!/^[\x21-\x7e]+$/.test(uri)) return 'holds a space, a control character or a character outside ASCII';
  if (/[\\"<>^`{|}]/.test(uri)) return 'holds a character that must be percent-encoded';
  if (uri.includes('#')) return 'must not have a fragment (RFC 6749 §3.1.2)';
  if (uri.includes('*')) return 'must not hold a wildcard: each address is registered whole';
  let parsed: URL;
  try {
    parsed = new URL(uri);
  } catch {
    return 'is not an absolute URL';
  }
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return 'must be https (http only for loopback)';
  if (parsed.username || parsed.password || /^https?:\/\/[^/?]*@/i.test(uri)) return 'must not hold a user name';
  if (parsed.protocol === 'http:' && !loopback.test(uri)) return 'must be https (http only for loopback)';
  if (hasDotSegment(uri)) return 'must not hold dot segments';
  // Parsers let sub-delimiters into names, which no name in the DNS has, and which mean something in other headers.
  if (!/^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(parsed.hostname)) return 'must name a host of the DNS, or an address';
  if (!isWrittenAs(uri, parsed)) return `must be written as ${parsed.protocol}//${parsed.host}…`;
  return null;
}

/** Whether a browser may be sent there: https, or http to a loopback address. What is registered is judged again at use. */
export function isReturnable(uri: string): boolean {
  return uri.startsWith('https://') || loopback.test(uri);
}

/** True where `presented` is one of `registered`, letter by letter, but for the port of a loopback address. */
export function matchesRedirectUri(registered: readonly string[], presented: string): boolean {
  if (!isReturnable(presented)) return false;
  if (registered.includes(presented)) return true;
  const given = loopback.exec(presented);
  if (!given || !isPort(given[2])) return false;
  return registered.some((uri) => {
    const known = loopback.exec(uri);
    return known !== null && known[1] === given[1] && known[3] === given[3];
  });
}

/** The origins from which a client's pages may call: those of its redirect URIs; there is no separate list. */
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
  const path = uri.replace(/^https?:\/\/[^/?]*/i, '').split('?')[0] ?? '';
  return path
    .replace(/%2e/gi, '.')
    .split('/')
    .some((segment) => /^\.{1,2}(;.*)?$/.test(segment));
}

/** Whether scheme and host stand there as they are compared; the default port may be named. */
function isWrittenAs(uri: string, { protocol, host }: URL): boolean {
  const [origin] = /^[^/]*\/\/[^/?]*/.exec(uri) ?? [''];
  return [`${protocol}//${host}`, `${protocol}//${host}${protocol === 'https:' ? ':443' : ':80'}`].includes(origin);
}
