import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';
import { refuse } from '../kernel/problem.ts';
import { hostSyntax } from '../projects/site.ts';

/** Label that precedes the domain in the name of the TXT record. */
const challengeLabel = '_latchkey-challenge';

/** 253 (RFC 1035 section 2.3.4), less the label of the record. */
const maxLength = 253 - challengeLabel.length - 1;

/** The name of the TXT record that proves a domain. */
export function challengeName(host: string): string {
  return `${challengeLabel}.${host}`;
}

/**
 * A host name as typed, in ASCII and lower case, without the final dot. Refuses `invalid` for anything other than a
 * host name (addresses, ports, schemes, wildcards), a public suffix such as `co.uk` or `github.io`, and the base
 * address's own host.
 */
export function checkedHost(typed: string, baseUrl: string): string {
  const text = typeof typed === 'string' ? typed.trim().replace(/\.$/, '') : '';
  // Characters that URL parsers do not read as part of the host.
  const host = /[\s/\\:@?#%[\]*_]/.test(text) ? '' : domainToASCII(text);
  if (!hostSyntax.test(host) || host.length > maxLength) {
    refuse({ code: 'invalid', field: 'host', reason: 'must be a host name such as login.example.com' });
  }
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
