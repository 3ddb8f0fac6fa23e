import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

/** Resolves a name to its addresses. */
export type NameLookup = (
  hostname: string,
  done: (error: Error | null, addresses: { address: string; family: 4 | 6 }[]) => void,
) => void;

/** Two attempts, 4.5 s in all: less than the timeout of an outgoing request. */
const resolverOptions = { timeout: 1500, tries: 2 };

/**
 * Queries the name servers directly. `getaddrinfo` blocks one of the process's few threads, so one customer's name
 * whose servers never respond would delay all other lookups.
 *
 * @param servers default: those of the system
 */
export function nameLookup(servers?: string[]): NameLookup {
  const resolver = new Resolver(resolverOptions);
  if (servers) resolver.setServers(servers);
  return (hostname, done) => {
    // RFC 6761 §6.3: not sent to name servers.
    if (/(^|\.)localhost\.?$/i.test(hostname)) return done(null, [{ address: '127.0.0.1', family: 4 }]);
    void resolve(resolver, hostname, done);
  };
}

async function resolve(resolver: Resolver, hostname: string, done: Parameters<NameLookup>[1]): Promise<void> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [...addressesOf(four, 4), ...addressesOf(six, 6)];
  if (addresses.length > 0 || four.status === 'fulfilled') done(null, addresses);
  else done(four.reason as Error, []);
}

function addressesOf(result: PromiseSettledResult<string[]>, family: 4 | 6): { address: string; family: 4 | 6 }[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
}

/** A socket's lookup that returns only addresses which pass `isUsable`, or fails with `refused`. */
export function lookupOf(names: NameLookup, isUsable: (address: string) => boolean, refused: string): LookupFunction {
  return (hostname, options, callback) => {
    names(hostname, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const usable = addresses.filter(({ address }) => isUsable(address));
      const [first] = usable;
      if (!first) return callback(new Error(refused), '', 0);
      // Happy Eyeballs: Node requests all addresses.
      if (options.all) (callback as unknown as (e: null, all: typeof usable) => void)(null, usable);
      else callback(null, first.address, first.family);
    });
  };
}
