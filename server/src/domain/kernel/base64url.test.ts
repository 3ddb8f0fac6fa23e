import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isBase64url, isCompactJws } from './base64url.ts';

describe('strict base64url (RFC 7515 §2)', () => {
  it('accepts the encoding of any bytes', () => {
    for (let length = 0; length < 200; length += 1) {
      expect(isBase64url(randomBytes(length).toString('base64url'))).toBe(true);
    }
  });

  it('rejects every other spelling of the same bytes', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=.';
    for (const one of alphabet) {
      for (const text of [`A${one}`, `AA${one}`, `AAA${one}`, `AAAA${one}`]) {
        const canonical = Buffer.from(text, 'base64url').toString('base64url') === text;
        expect([text, isBase64url(text)]).toEqual([text, canonical]);
      }
    }
  });

  it.each(['AA==', 'AAA=', 'AA\n', ' AA', 'A A', 'AA.', 'Ä', '\0'])('is not %j', (text) => {
    expect(isBase64url(text)).toBe(false);
  });

  it('makes a compact JWS of three parts, none of them empty', () => {
    expect(isCompactJws('AA.AA.AA')).toBe(true);
    for (const text of ['', 'AA', 'AA.AA', 'AA.AA.', '.AA.AA', 'AA.AA.AA.AA', 'AA.AA.AA==', 'AA.AA.AB']) {
      expect([text, isCompactJws(text)]).toEqual([text, false]);
    }
  });

  it('takes linear time', () => {
    expect(isBase64url(`${'A'.repeat(4_000_000)}=`)).toBe(false);
  });
});
