import { domainToASCII, domainToUnicode } from 'node:url';
import { refuse } from '../kernel/problem.ts';

const maxDomains = 1000;
/** Characters of a host name in one of its two forms; excludes those with a meaning in URLs. */
const hostName = /^[\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}.\-·‿]*[\p{L}\p{M}\p{N}])?$/u;

/** A mail domain in Unicode and lower case, so that both forms of RFC 5890 §2.3.2.1 are equal. Null: not a domain name. */
export function mailDomain(name: string): string | null {
  const domain = name.trim().normalize('NFC').toLowerCase();
  if (domain.length > 253 || domain.includes('..') || !hostName.test(domain)) return null;
  const unicode = domainToUnicode(domainToASCII(domain));
  return unicode === '' ? null : unicode;
}

/** A domain in ASCII as people read it; null if that is the same. */
export function unicodeOf(domain: string): string | null {
  const unicode = domainToUnicode(domain);
  return unicode === '' || unicode === domain ? null : unicode;
}

/**
 * Mail domains as stored. Refuses `invalid`.
 *
 * @param patterns whether `*.example.com` is accepted: all domains below example.com
 */
export function checkedMailDomains(
  domains: readonly string[],
  { field, patterns }: { field: string; patterns: boolean },
): string[] {
  if (domains.length > maxDomains) refuse({ code: 'invalid', field, reason: `must be at most ${maxDomains}` });
  const stored = domains.map((given) => {
    const prefix = patterns && given.trim().startsWith('*.') ? '*.' : '';
    const domain = mailDomain(given.trim().slice(prefix.length));
    if (domain !== null) return `${prefix}${domain}`;
    const forms = patterns ? 'example.com or *.example.com' : 'example.com';
    return refuse({
      code: 'invalid',
      field,
      reason: `must be mail domains such as ${forms}; invalid: ${given.slice(0, 60)}`,
    });
  });
  return [...new Set(stored)].sort();
}

/** Whether a checked list contains the domain, or a pattern for it. */
export function isListed(domain: string, domains: readonly string[]): boolean {
  return domains.includes(domain) || parentsOf(domain).some((parent) => domains.includes(`*.${parent}`));
}

/** Whether a list of domains contains this one or a domain above it. */
export function isAtOrBelow(domain: string, has: (domain: string) => boolean): boolean {
  return [domain, ...parentsOf(domain)].some(has);
}

/** The domains above a domain, the nearest first: of `a.b.example.com`, `b.example.com`, `example.com`, `com`. */
export function parentsOf(domain: string): string[] {
  const labels = domain.split('.');
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'));
}
