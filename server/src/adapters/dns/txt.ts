import { Resolver } from 'node:dns/promises';
import type { ReadTxt } from '../../domain/projects/dns-proof.ts';

/** The name has no such record; every other fault may be temporary. */
const missing = ['ENOTFOUND', 'ENODATA'];
const maxRecords = 100;

/** Reads TXT records. @param servers addresses of name servers; undefined: the system's */
export function txtReader({
  servers,
  timeoutMs = 3000,
}: {
  servers?: string[] | undefined;
  timeoutMs?: number;
}): ReadTxt {
  return async (name) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
    if (servers) resolver.setServers(servers);
    try {
      const records = await resolver.resolveTxt(name);
      return records.slice(0, maxRecords).map((parts) => parts.join(''));
    } catch (error) {
      return missing.includes((error as { code?: string }).code ?? '') ? 'missing' : 'unavailable';
    }
  };
}
