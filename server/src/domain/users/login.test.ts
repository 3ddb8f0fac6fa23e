import { describe, expect, it } from 'vitest';
import { addressKey, isAddress, isE164, loginEmail, loginPhone, trimmed } from './login.ts';

describe('the login email', () => {
  it('is the primary one, else of type work, else the first, else a userName that is an address', () => {
    const [home, work] = [
      { value: 'h@x.io', type: 'home' },
      { value: 'w@x.io', type: 'Work' },
    ];
    expect(loginEmail('u', [home, work, { value: 'p@x.io', primary: true }])).toBe('p@x.io');
    expect(loginEmail('u', [home, work])).toBe('w@x.io');
    expect(loginEmail('u@x.io', [home])).toBe('h@x.io');
    expect(loginEmail('u@x.io', [])).toBe('u@x.io');
    expect(loginEmail('u@x.io', [{ type: 'work' }])).toBe('u@x.io');
    expect(loginEmail('u', [])).toBeNull();
  });
});

describe('the login phone', () => {
  it('is the primary E.164 number, else the first mobile one, else the first; only the last may be shared', () => {
    const office = { value: '+41440000000', type: 'work' };
    const mobile = { value: '+41790000001', type: 'Mobile' };
    const untyped = { value: '+41790000002' };
    const own = (phone: string) => ({ phone, isShared: false });
    expect(loginPhone([mobile, { ...office, primary: true }])).toEqual(own('+41440000000'));
    expect(loginPhone([office, mobile, { ...mobile, value: '+41790000003' }])).toEqual(own('+41790000001'));
    expect(loginPhone([untyped])).toEqual({ phone: '+41790000002', isShared: true });
    expect(loginPhone([{ value: '044 000 00 00' }, office, untyped])).toEqual({
      phone: '+41440000000',
      isShared: true,
    });
    expect(loginPhone([{ value: '079 000 00 01', type: 'mobile', primary: true }])).toMatchObject({ phone: null });
    expect(loginPhone([])).toMatchObject({ phone: null });
  });
});

describe('isAddress', () => {
  it.each([
    'a@b',
    'first.last+tag@sub.example.com',
    "o'malley@example.com",
    'användare@exämple.se',
    'x@XN--EXMPLE-CUA.se',
    'x@localhost',
    'x@a_b.example',
  ])('accepts %s', (text) => expect(isAddress(text)).toBe(true));
  it.each([
    '',
    'a',
    '@b',
    'a@',
    'a@@b',
    'a b@c',
    'a@b c',
    'a@b.',
    'a@.b',
    'a@b..c',
    'a@b\n',
    '<a@b>',
    'a@b,c@d',
    `${'a'.repeat(65)}@b`,
    `a@${'b'.repeat(260)}`,
    'a@ｅxample.com',
    'a@exa\u00admple.com',
    'a@exam\u200bple.com',
    'a@example。com',
    'a@2130706433',
  ])('refuses %j', (text) => expect(isAddress(text)).toBe(false));
});

describe('addressKey', () => {
  it('ignores case, surrounding spaces and composition', () => {
    expect(addressKey(' Ärger@Example.COM\n')).toBe(addressKey('ärger@example.com'));
    expect(addressKey('a\u0308@x')).toBe(addressKey('\u00e4@x'));
  });
});

describe('isE164', () => {
  it.each(['+41790000001', '+1234567', '+123456789012345'])('accepts %s', (text) => expect(isE164(text)).toBe(true));
  it.each([
    '41790000001',
    '+0790000001',
    '+41 79',
    '+',
    '+123456',
    '+1234567890123456',
    '+4179000000a',
    '+41790000001\n',
  ])('refuses %j', (text) => expect(isE164(text)).toBe(false));
});

describe('a text without what surrounds it', () => {
  it.each([
    [' \u200b\u00a0a b\t\n', 'a b'],
    ['\u2066 \u00ad', ''],
    ['', ''],
    ['a', 'a'],
  ])('%j is %j', (given, expected) => {
    expect(trimmed(given)).toBe(expected);
  });

  it('keeps spaces inside it, in linear time', () => {
    const spaced = `a${' '.repeat(1_000_000)}b`;
    expect(trimmed(` ${spaced} `)).toBe(spaced);
  });
});
