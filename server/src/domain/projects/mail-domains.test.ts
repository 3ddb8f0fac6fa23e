import { describe, expect, it } from 'vitest';
import { checkedMailDomains, mailDomain, unicodeOf } from './mail-domains.ts';

const checked = (domains: string[], patterns = true) =>
  checkedMailDomains(domains, { field: 'signUpDomains', patterns });
const refusal = (reason: string) =>
  expect.objectContaining({ problem: expect.objectContaining({ code: 'invalid', reason }) });

describe('mail domains of a setting', () => {
  it('are stored once each, in Unicode and lower case, sorted', () => {
    expect(
      checked([' Example.com', '*.EXAMPLE.com', 'xn--bcher-kva.example', 'bücher.example', 'example.com ']),
    ).toEqual(['*.example.com', 'bücher.example', 'example.com']);
  });

  it.each([
    '',
    '@example.com',
    'ada@example.com',
    'https://example.com',
    'example.com/path',
    'exa mple.com',
    'a..b',
    '.com',
    'a.',
    '*',
    '*.',
    '*.*.com',
    'ex*mple.com',
    'example.com:25',
    'a%2Fb.com',
  ])('refuse %j', (domain) => {
    const reason = `must be mail domains such as example.com or *.example.com; invalid: ${domain}`;
    expect(() => checked([domain])).toThrow(refusal(reason));
  });

  it('refuse patterns where domains below are meant anyway, and too many', () => {
    expect(() => checked(['*.example.com'], false)).toThrow(
      refusal('must be mail domains such as example.com; invalid: *.example.com'),
    );
    expect(() => checked(Array.from({ length: 1001 }, (_, at) => `d${at}.example`))).toThrow(
      refusal('must be at most 1000'),
    );
  });

  it('are equal in both forms of an international name', () => {
    expect(mailDomain('XN--BCHER-KVA.example')).toBe(mailDomain('Bücher.example'));
    expect(mailDomain('x'.repeat(254))).toBeNull();
  });

  it('have a form that people read only where it differs', () => {
    expect(unicodeOf('xn--bcher-kva.example')).toBe('bücher.example');
    expect(unicodeOf('example.com')).toBeNull();
    // Not a valid name: it has no other form.
    expect(unicodeOf('xn--0.example')).toBeNull();
  });
});
