import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { lookupOf, type NameLookup, nameLookup } from './name-lookup.ts';

/** Result of a POST to a customer's server. */
export type PostResult = { status: number } | { error: string };

export interface OutboundOptions {
  /** Allows loopback and private addresses, and plain http: for tests and private networks. */
  allowPrivate: boolean;
  timeoutMs: number;
  /** Additional headers. */
  headers?: Record<string, string>;
  /** Default: the system's name servers. */
  resolve?: NameLookup;
}

const refused = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  refused.addSubnet(network, prefix, 'ipv4');
}
// Only 2000::/3 is global unicast (RFC 4291 §2.4); it contains these special ranges. An address that embeds an IPv4
// address (mapped, NAT64, 6to4, Teredo) could reach a private network through a gateway.
const publicIpv6 = new BlockList();
publicIpv6.addSubnet('2000::', 3, 'ipv6');
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  refused.addSubnet(network, prefix, 'ipv6');
}

/** True for a globally routable address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused.check(address, 'ipv4');
  if (family === 6) return publicIpv6.check(address, 'ipv6') && !refused.check(address, 'ipv6');
  return false;
}

/**
 * POSTs a form to a URL that a customer registered. The socket's peer must be a public address: checked when the name is
 * resolved, and again on the connected socket before the form is sent. Follows no redirects, does not read the response
 * body, takes at most `timeoutMs`.
 */
export function postForm(url: string, form: URLSearchParams, options: OutboundOptions): Promise<PostResult> {
  return new Promise((done) => {
    const target = new URL(url);
    const secure = target.protocol === 'https:';
    if (!secure && !options.allowPrivate) return done({ error: 'the address is not https' });
    // A name is checked when it is resolved; an IP address is never resolved.
    const literal = target.hostname.replace(/^\[|\]$/g, '');
    if (!options.allowPrivate && isIP(literal) !== 0 && !isPublicAddress(literal)) return done(notPublic);
    const body = form.toString();
    const send = secure ? httpsRequest : httpRequest;
    const requestOptions: RequestOptions = {
      method: 'POST',
      headers: {
        ...options.headers,
        'Content-Type': 'application/x-www-form-urlencoded',
        'Content-Length': Buffer.byteLength(body),
      },
      // The socket connects to the address that was checked, which prevents DNS rebinding.
      lookup: options.allowPrivate
        ? undefined
        : lookupOf(options.resolve ?? bySystemServers, isPublicAddress, notPublic.error),
      // No pooled socket: it would skip the check.
      agent: false,
      signal: AbortSignal.timeout(options.timeoutMs),
    };
    const request = send(target, requestOptions, (response) => {
      done({ status: response.statusCode ?? 0 });
      response.destroy();
    });
    request.on('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        if (!options.allowPrivate && !isPublicAddress(socket.remoteAddress ?? '')) {
          request.destroy(new Error(notPublic.error));
          return;
        }
        request.end(body);
      });
    });
    request.on('error', (error) => done({ error: reasonOf(error) }));
  });
}

const notPublic = { error: 'the address is not public' };
const bySystemServers = nameLookup();

function reasonOf(error: Error & { code?: string }): string {
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer in time';
  return error.code ?? error.message;
}
