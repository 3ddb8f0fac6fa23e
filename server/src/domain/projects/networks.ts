import { isIP } from 'node:net';
import { refuse } from '../kernel/problem.ts';

const maxNetworks = 20;

interface Bounds {
  /** The setting, for the refusal. */
  field: string;
  /** Bits of the widest range: IPv4, IPv6. Default: any range. */
  widest?: readonly [number, number];
}

/** Networks as stored: addresses, or ranges in CIDR notation. Refuses `invalid`. */
export function checkedNetworks(networks: readonly string[], { field, widest = [0, 0] }: Bounds): string[] {
  const given = Array.isArray(networks) ? networks.map(String) : [''];
  const wanted = [...new Set(given.map((network) => network.trim().toLowerCase()))];
  if (wanted.length > maxNetworks) refuse({ code: 'invalid', field, reason: `must be at most ${maxNetworks}` });
  for (const network of wanted) {
    const range = rangeOf(network);
    if (!range) {
      const reason = `must be addresses or ranges such as 192.0.2.0/24 or 2001:db8::/32; invalid: ${network.slice(0, 60)}`;
      refuse({ code: 'invalid', field, reason });
    }
    const least = widest[range.version === 4 ? 0 : 1];
    if (range.bits < least)
      refuse({ code: 'invalid', field, reason: `must be a /${least} or smaller; invalid: ${network}` });
  }
  return wanted;
}

/** Null if malformed, also for IPv4 in IPv6 form: the address of a client is compared as IPv4. */
function rangeOf(network: string): { version: 4 | 6; bits: number } | null {
  const [address = '', prefix, ...rest] = network.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || address.includes('%') || address.startsWith('::ffff:')) return null;
  const most = version === 4 ? 32 : 128;
  const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  return bits <= most ? { version: version as 4 | 6, bits } : null;
}
