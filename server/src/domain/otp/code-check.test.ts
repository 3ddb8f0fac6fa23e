import { describe, expect, it } from 'vitest';
import { checkCode, type TriedCode } from './code-check.ts';
import { networkOf } from './network.ts';

const now = new Date('2027-01-01T00:00:00Z');
const good: TriedCode = {
  attempts: 1,
  expiresAt: new Date(now.getTime() + 1),
  usedAt: null,
  isSent: true,
  matches: true,
  sameKey: true,
};

describe('an attempt at a one-time code', () => {
  it('succeeds with the right digits, up to the fifth attempt and the last millisecond', () => {
    expect(checkCode(good, now)).toBeNull();
    expect(checkCode({ ...good, attempts: 5 }, now)).toBeNull();
  });

  it.each<[string, Partial<TriedCode>]>([
    ['wrong', { matches: false }],
    ['other-key', { sameKey: false }],
    ['spent', { attempts: 6 }],
    ['expired', { expiresAt: now }],
    ['none-sent', { isSent: false }],
    ['used', { usedAt: now }],
  ])('fails with %s', (fault, over) => {
    expect(checkCode({ ...good, ...over }, now)).toBe(fault);
  });

  it('does not reveal whether the digits were right once the code is spent', () => {
    for (const matches of [true, false]) expect(checkCode({ ...good, attempts: 6, matches }, now)).toBe('spent');
  });
});

describe('the network of a limit', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:DB8:1:2:ffff::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
    ['192.0.2.7:51234', '192.0.2.7'],
    ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['', 'unknown'],
    [undefined, 'unknown'],
    ['not an address', 'unknown'],
  ])('of %s is %s', (ip, network) => {
    expect(networkOf(ip)).toBe(network);
  });
});
