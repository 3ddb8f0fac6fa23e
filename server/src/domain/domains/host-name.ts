import { getDomain } from 'tldts';
import { refuse } from '../kernel/problem.ts';
import { typedHost } from '../projects/dns-proof.ts';

/**
 * A host name as typed, in ASCII and lower case, without the final dot. Refuses `invalid` for anything other than a
 * host name (addresses, ports, schemes, wildcards), a public suffix such as `co.uk` or `github.io`, and the base
 * address's own host.
 */
export function checkedHost(typed: string, baseUrl: string): string {
  const host = typedHost(typed);
  if (host === null)
    refuse({ code: 'invalid', field: 'host', reason: 'must be a host name such as login.example.com' });
  if (getDomain(host, { allowPrivateDomains: true }) === null) {
    refuse({
      code: 'invalid',
      field: 'host',
      reason: 'must not be a public suffix, whose subdomains belong to others',
    });
  }
  if (host === new URL(baseUrl).hostname) {
    refuse({ code: 'invalid', field: 'host', reason: 'must not be the host of BASE_URL' });
  }
  return host;
}
