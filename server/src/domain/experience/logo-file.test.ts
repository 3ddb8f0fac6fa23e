import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jpegOf, pngOf, webpOf } from '../../../test/pictures.ts';
import { Refusal } from '../kernel/problem.ts';
import { checkLogo, maxLogoBytes } from './logo-file.ts';

describe('a logo', () => {
  it.each([
    ['image/png', pngOf(120, 40)],
    ['image/jpeg', jpegOf(120, 40)],
    ['image/webp', webpOf(120, 40)],
  ] as const)('is recognized as %s by its bytes, with its size', (type, bytes) => {
    expect(checkLogo(bytes)).toEqual({ type, width: 120, height: 40 });
  });

  it.each([
    ['nothing', Buffer.alloc(0), /PNG, JPEG or WebP/],
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>'), /can contain scripts/],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'), /save it as a PNG/],
    ['a GIF', Buffer.from('GIF89a\x10\0\x10\0\0\0\0;'), /PNG, JPEG or WebP/],
    ['a truncated PNG', pngOf(100, 100).subarray(0, 60), /PNG, JPEG or WebP/],
    [
      'a page after the first bytes of a PNG',
      Buffer.concat([pngOf(9, 9).subarray(0, 8), Buffer.from('<html>')]),
      /PNG/,
    ],
    ['a picture of 8 pixels', pngOf(8, 8), /16 to 2048/],
    ['a picture of 40,000 pixels', jpegOf(40_000, 20), /is 40000 × 20/],
    ['a file of more than 256 KB', Buffer.concat([pngOf(50, 50), Buffer.alloc(maxLogoBytes)]), /at most 256 KB/],
  ])('is refused if it is %s', (_what, bytes, reason) => {
    expect(() => checkLogo(bytes)).toThrow(Refusal);
    try {
      checkLogo(bytes);
    } catch (error) {
      expect((error as Refusal).problem).toMatchObject({
        code: 'invalid',
        field: 'logo',
        reason: expect.stringMatching(reason),
      });
    }
  });

  it('never throws anything but a refusal on random bytes', () => {
    const heads = [pngOf(20, 20), jpegOf(20, 20), webpOf(20, 20)];
    const bytes = fc
      .tuple(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 64 }), fc.nat(60))
      .map(([head, noise, at]) => {
        const mixed = Buffer.from(head);
        mixed.set(noise.subarray(0, Math.max(0, mixed.length - at)), Math.min(at, mixed.length));
        return mixed;
      });
    fc.assert(
      fc.property(bytes, (file) => {
        try {
          checkLogo(file);
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
