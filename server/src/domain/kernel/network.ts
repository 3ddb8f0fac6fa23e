import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * The unit that address limits count by: an IPv4 address, or the /64 of an IPv6 one, since one subscriber has all of
 * it. IPv4 in IPv6 form (`::ffff:192.0.2.1`) is the IPv4 address.
 */
export function networkOf(ip: string | undefined): string {
  const address = addressOf(ip);
  if (address === null) return 'unknown';
  if (isIPv4(address)) return address;
  return `${hextets(address)
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** IPv4 with a port, or IPv6 in brackets, as some proxies write it into X-Forwarded-For. */
const withPort = /^(?:(\d+(?:\.\d+){3}):\d+|\[([^\]]+)\](?::\d+)?)$/;

/** The address without a zone or port, IPv4 in IPv6 form as IPv4; null if it is not an address. */
export function addressOf(ip: string | undefined): string | null {
  const [, four, six] = withPort.exec(ip ?? '') ?? [];
  const address = (four ?? six ?? ip ?? '').split('%', 1)[0] as string;
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return null;
  const groups = hextets(address);
  if (groups.slice(0, 5).some((group) => group !== 0) || groups[5] !== 0xffff) return address;
  const [high, low] = groups.slice(6) as [number, number];
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The eight groups of a valid IPv6 address. */
function hextets(address: string): number[] {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a, b, c, d] = bytes.slice(0, 4).map(Number) as [number, number, number, number];
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [left = '', right] = plain.split('::');
  const parse = (side: string) => (side === '' ? [] : side.split(':').map((group) => Number.parseInt(group, 16)));
  const head = parse(left);
  if (right === undefined) return head;
  const tail = parse(right);
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
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
 * Whether a host of an address that a customer registers is private: `localhost`, or an address that is not globally
 * routable, in each spelling that resolvers accept (`127.1`, `2130706433`, `0x7f000001`, with a trailing dot). False
 * for other names: their addresses are checked at each connection.
 *
 * @param host a name or an address, IPv6 with or without brackets
 */
export function isPrivateHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  const url = `http://${isIPv6(bare) ? `[${bare}]` : bare}/`;
  // The URL parser writes an IPv4 address in its usual form (WHATWG URL section 3.5).
  const name = (URL.canParse(url) ? new URL(url).hostname : bare.toLowerCase()).replace(/^\[|\]$|\.+$/g, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return isIP(name) !== 0 && !isPublicAddress(name);
}
