import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { lookupOf, type NameLookup, nameLookup } from './name-lookup.ts';

/** What came of a POST to somebody else's server. */
export type PostOutcome = { status: number } | { error: string };

export interface OutboundOptions {
  /** For tests and networks that are private on purpose: loopback and private addresses, and plain http. */
  allowPrivate: boolean;
  timeoutMs: number;
  /** Beside its own. */
  headers?: Record<string, string>;
  /** How names are resolved; by the system's name servers unless a test has another way. */
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
// Only 2000::/3 is the public internet (RFC 4291 §2.4); within it these lead elsewhere or nowhere. An address that
// embeds an IPv4 one (mapped, NAT64, 6to4, Teredo) could reach a private network through a gateway.
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

/** True for an address of the public internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused.check(address, 'ipv4');
  if (family === 6) return publicIpv6.check(address, 'ipv6') && !refused.check(address, 'ipv6');
  return false;
}

/**
 * POSTs a form to an address that a customer registered. The socket's own peer must be a public address: checked when
 * the name is resolved, for that is what is connected to, and again on the connected socket before the form is sent. Redirects are not followed, the answer's body is not read, the whole takes at most
 * `timeoutMs`.
 */
export function postForm(url: string, form: URLSearchParams, options: OutboundOptions): Promise<PostOutcome> {
  return new Promise((done) => {
    const target = new URL(url);
    const secure = target.protocol === 'https:';
    if (!secure && !options.allowPrivate) return done({ error: 'the address is not https' });
    // A name is judged when it is resolved; an address is never resolved.
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
      // What the socket is given is what it connects to, so a name cannot rebind.
      lookup: options.allowPrivate
        ? undefined
        : lookupOf(options.resolve ?? bySystemServers, isPublicAddress, notPublic.error),
      // A socket of its own: a pooled one would skip the check.
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
