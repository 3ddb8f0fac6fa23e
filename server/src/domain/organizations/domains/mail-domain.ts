import { getDomain } from 'tldts';
import { refuse } from '../../kernel/problem.ts';
import { typedHost } from '../../projects/dns-proof.ts';
import { isAtOrBelow } from '../../projects/mail-domains.ts';
import { isDisposable } from '../../users/sign-up.ts';
import { publicMailDomains } from './public-mail-domains.ts';

/**
 * A mail domain as typed, in ASCII and lower case. Refuses `invalid` for anything other than a host name, for a public suffix, and for
 * the domains of mail providers, whose mailboxes belong to unrelated people.
 */
export function checkedOrganizationDomain(typed: string): string {
  const field = 'domain';
  const domain = typedHost(typed);
  if (domain === null) refuse({ code: 'invalid', field, reason: 'must be a mail domain such as example.com' });
  if (getDomain(domain, { allowPrivateDomains: true }) === null) {
    refuse({ code: 'invalid', field, reason: 'must not be a public suffix, whose subdomains belong to others' });
  }
  if (isAtOrBelow(domain, (one) => publicMailDomains.has(one)) || isDisposable(domain)) {
    refuse({ code: 'invalid', field, reason: 'must not be the domain of a public mail provider' });
  }
  return domain;
}
