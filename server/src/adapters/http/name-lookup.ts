import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

/** How a connection is told the addresses of a name. */
export type NameLookup = (
  hostname: string,
  done: (error: Error | null, addresses: { address: string; family: 4 | 6 }[]) => void,
) => void;

/** Twice, the second time for twice as long: less than an outgoing request may take. */
const patience = { timeout: 1500, tries: 2 };

/**
 * Asks the name servers itself. The system's way waits in one of the process's few threads, and a name whose servers
 * never answer would hold it, and with it everybody else who needs a name: a customer could do that to the others.
 *
 * @param servers where absent, those of the system
 */
export function nameLookup(servers?: string[]): NameLookup {
  const resolver = new Resolver(patience);
  if (servers) resolver.setServers(servers);
  return (hostname, done) => {
    // Names that are this machine by definition (RFC 6761 §6.3) are no name server's business.
    if (/(^|\.)localhost\.?$/i.test(hostname)) return done(null, [{ address: '127.0.0.1', family: 4 }]);
    void ask(resolver, hostname, done);
  };
}

async function ask(resolver: Resolver, hostname: string, done: Parameters<NameLookup>[1]): Promise<void> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [...addressesOf(four, 4), ...addressesOf(six, 6)];
  if (addresses.length > 0 || four.status === 'fulfilled') done(null, addresses);
  else done(four.reason as Error, []);
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): { address: string; family: 4 | 6 }[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}

/** A lookup for a socket that gives only the addresses that `isUsable` lets through, or fails with `refused`. */
export function lookupOf(names: NameLookup, isUsable: (address: string) => boolean, refused: string): LookupFunction {
  return (hostname, options, callback) => {
    names(hostname, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const usable = addresses.filter(({ address }) => isUsable(address));
      const [first] = usable;
      if (!first) return callback(new Error(refused), '', 0);
      // Node asks for all addresses when it races IPv6 against IPv4.
      if (options.all) (callback as unknown as (e: null, all: typeof usable) => void)(null, usable);
      else callback(null, first.address, first.family);
    });
  };
}
