import { describe, expect, it } from 'vitest';
import { cbor, map, SoftAuthenticator } from '../../../test/authenticator.ts';
import { cborEnd, isEcdsaSignature, parseAuthenticatorData, passkeyKeyOf } from './authenticator-data.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('the end of a CBOR item', () => {
  it.each([
    ['an integer', '17'],
    ['an integer of 8 bits', '18ff'],
    ['an integer of 64 bits', '1bffffffffffffffff'],
    ['a negative integer', '390100'],
    ['bytes', '43 010203'],
    ['no bytes', '40'],
    ['text', '63 616263'],
    ['an array', '83 01 42 0000 80'],
    ['a map', 'a2 01 02 61 61 a1 03 04'],
    ['true', 'f5'],
    ['a double', 'fb 3ff0000000000000'],
    ['eight levels', '81 81 81 81 81 81 81 81 01'],
  ])('is found: %s', (_, text) => {
    const item = hex(text);
    expect(cborEnd(item, 0)).toBe(item.length);
    expect(cborEnd(Buffer.concat([item, item]), item.length)).toBe(2 * item.length);
    expect(cborEnd(Buffer.concat([item, Buffer.from([0])]), 0)).toBe(item.length);
    for (let end = 0; end < item.length; end += 1) expect(() => cborEnd(item.subarray(0, end), 0)).toThrow(RangeError);
  });

  it.each([
    ['nine levels', '81 81 81 81 81 81 81 81 81 01'],
    ['a tag', 'c0 01'],
    ['a break', 'ff'],
    ['bytes of indefinite length', '5f ff'],
    ['an array of indefinite length', '9f ff'],
    ['a reserved length', `1c ${'00'.repeat(32)}`],
    ['a reserved simple value', `fc ${'00'.repeat(32)}`],
    ['bytes with a length of 64 bits', '5b 0000000000000001 00'],
    ['a simple value', 'e0'],
    ['a simple value of 8 bits', 'f8 ff'],
    ['a huge array', '9a ffffffff 00'],
    ['a huge map', 'ba ffffffff 00 00'],
    ['a length beyond the input', '5a ffffffff 00'],
  ])('is refused: %s', (_, text) => {
    expect(() => cborEnd(hex(text), 0)).toThrow(RangeError);
  });
});

describe('authenticator data', () => {
  const head = Buffer.alloc(37);
  it('is refused if truncated anywhere', () => {
    const key = cbor(map([1, 2], [3, -7]));
    const data = Buffer.concat([
      head,
      Buffer.alloc(17),
      Buffer.from([4]),
      Buffer.from('abcd'),
      key,
      cbor(map(['x', 1])),
    ]);
    data[32] = 0xc1;
    expect(parseAuthenticatorData(data).attested).toMatchObject({ credentialId: 'YWJjZA' });
    for (let end = 0; end < data.length; end += 1)
      expect(() => parseAuthenticatorData(data.subarray(0, end))).toThrow(RangeError);
  });

  it('has a counter of 32 bits', () => {
    expect(parseAuthenticatorData(Buffer.concat([head.subarray(0, 33), hex('ffffffff')])).signCount).toBe(0xffffffff);
  });
});

it('the algorithm of a key is null for anything that is not a key', () => {
  for (const key of ['', 'AA', 'oA', '!', 'gA', cbor(map(['x', 1])).toString('base64url')])
    expect(passkeyKeyOf(key)).toBeNull();
});

describe('an ECDSA signature in DER', () => {
  const authenticator = new SoftAuthenticator();
  const origin = 'https://app.example';
  const options = { challenge: 'AAAA', rp: {}, user: { id: 'AAAA' }, pubKeyCredParams: [{ alg: -7 }] };
  authenticator.create(options, { origin });

  it('is recognized', () => {
    for (let count = 0; count < 50; count += 1) {
      const { signature } = authenticator.get({ challenge: 'AAAA' }, { origin, signCount: count }).response;
      const bytes = Buffer.from(signature, 'base64url');
      expect(isEcdsaSignature(bytes)).toBe(true);
      expect(isEcdsaSignature(bytes.subarray(0, -1))).toBe(false);
      expect(isEcdsaSignature(Buffer.concat([bytes, Buffer.from([0])]))).toBe(false);
    }
  });

  it.each([
    '',
    '30',
    '3000',
    '30 06 02 01 01 02 01',
    '30 06 02 01 01 02 02 01',
    '30 07 02 01 01 02 01 01',
    'b0 06 02 01 01 02 01 01',
    '30 06 03 01 01 02 01 01',
    '30 06 02 01 01 22 01 01',
    '30 81 06 02 01 01 02 01 01',
    '30 06 02 ff 01 02 01 01',
  ])('is not %s', (text) => {
    expect(isEcdsaSignature(hex('30 06 02 01 01 02 01 01'))).toBe(true);
    expect(isEcdsaSignature(hex(text))).toBe(false);
  });
});
