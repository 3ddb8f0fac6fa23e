import { isIP } from 'node:net';
import { refuse } from '../kernel/problem.ts';

const maxNetworks = 20;
const field = 'networks';

/** Networks as stored: addresses, or ranges in CIDR notation. Refuses `invalid`. */
export function checkedNetworks(networks: readonly string[]): string[] {
  const wanted = [...new Set(networks.map((network) => network.trim().toLowerCase()))];
  if (wanted.length > maxNetworks) refuse({ code: 'invalid', field, reason: `must be at most ${maxNetworks}` });
  for (const network of wanted) {
    if (isNetwork(network)) continue;
    const reason = `must be addresses or ranges such as 192.0.2.0/24 or 2001:db8::/32; invalid: ${network.slice(0, 60)}`;
    refuse({ code: 'invalid', field, reason });
  }
  return wanted;
}

/** False for IPv4 in IPv6 form: the address of a client is compared as IPv4. */
function isNetwork(network: string): boolean {
  const [address = '', prefix, ...rest] = network.split('/');
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  if (bits === undefined || rest.length > 0 || address.includes('%') || address.startsWith('::ffff:')) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}
