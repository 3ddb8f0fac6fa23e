import { describe, expect, it } from 'vitest';
import { certificateState, certificatesIn, needsRotation } from './certificates.ts';

const now = Date.parse('2026-03-01T10:00:00Z');
const [past, future] = ['2026-02-01T00:00:00Z', '2026-03-20T00:00:00Z'];
const certificate = { signsFrom: past, publishedUntil: null, expiresAt: '2036-01-01T00:00:00Z' };

it('tells the signing certificate from its successor and the former one', () => {
  expect(certificateState(certificate, now, true)).toBe('signs');
  expect(certificateState({ ...certificate, signsFrom: future }, now, false)).toBe('next');
  expect(certificateState(certificate, now, false)).toBe('former');
});

describe('the warning', () => {
  const expiring = { ...certificate, expiresAt: '2026-05-01T00:00:00Z' };
  it('is shown 90 days ahead, until there is a successor', () => {
    expect(needsRotation([certificate], now)).toBe(false);
    expect(needsRotation([expiring], now)).toBe(true);
    expect(needsRotation([expiring, { ...certificate, signsFrom: future }], now)).toBe(false);
    expect(needsRotation([expiring, certificate], now)).toBe(true);
    expect(needsRotation([], now)).toBe(false);
  });
});

it('finds all certificates of a text', () => {
  const pem = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----`;
  expect(certificatesIn(`# one\n${pem('AAAA')}\n\n${pem('BBBB')}\n`)).toEqual([pem('AAAA'), pem('BBBB')]);
  expect(certificatesIn(' MIIC\n')).toEqual(['MIIC']);
  expect(certificatesIn(' \n')).toEqual([]);
});
