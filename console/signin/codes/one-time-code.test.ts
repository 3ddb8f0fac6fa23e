import { describe, expect, it } from 'vitest';
import { cleanCode, findCode } from './one-time-code.ts';

describe('six digits in pasted text', () => {
  it.each([
    ['123456', '123456'],
    [' 123 456\n', '123456'],
    ['Your code is 123-456. It is valid for 5 minutes.', '123456'],
    ['１２３４５６', '123456'],
    ['رمزك هو ١٢٣٤٥٦', '١٢٣٤٥٦'],
    ['१२३-४५६', '१२३४५६'],
    ['𞥑𞥒𞥓𞥔𞥕𞥖', '𞥑𞥒𞥓𞥔𞥕𞥖'],
    ['492 817 is your sign-in code for Harbor.', '492817'],
  ])('%j is %s', (text, digits) => {
    expect(findCode(text, 'digits')).toBe(digits);
  });

  it.each(['', '12345', '1234567', 'call +49 30 1234567', '123456 or 654321', 'abc'])(
    'finds no certain code in %j',
    (text) => {
      expect(findCode(text, 'digits')).toBeUndefined();
    },
  );
});

describe('long code in pasted text', () => {
  it.each([
    ['7K3QX-9M2HD', '7K3QX9M2HD'],
    [' 7k3qx 9m2hd\n', '7K3QX9M2HD'],
    ['７Ｋ３ＱＸ－９Ｍ２ＨＤ', '7K3QX9M2HD'],
    ['OIL0I-L1234', '0110111234'],
    ['Your sign-in code for Harbor is 7K3QX-9M2HD. Dictionary, dandelions.', '7K3QX9M2HD'],
  ])('%j is %s', (text, code) => {
    expect(findCode(text, 'long')).toBe(code);
  });

  it.each(['', '7K3QX-9M2H', '7K3QX-9M2HDX', '7K3QU-9M2HD', 'a dandelion grows', '7K3QX-9M2HD or 8K3QX-9M2HD'])(
    'finds no certain code in %j',
    (text) => {
      expect(findCode(text, 'long')).toBeUndefined();
    },
  );
});

describe('typed input', () => {
  it.each([
    ['digits', '12 34-56 78', '123456'],
    ['digits', 'a1', '1'],
    ['digits', '٤٢', '٤٢'],
    ['digits', '𞥑𞥒𞥓𞥔𞥕𞥖𞥗', '𞥑𞥒𞥓𞥔𞥕𞥖'],
    ['long', '7k3qx-9m2hd', '7K3QX9M2HD'],
    ['long', 'oO iI lL', '001111'],
    ['long', '7k3qx-9m2hd5', '7K3QX9M2HD'],
    ['long', 'u!é', ''],
    ['recovery', ' aBcd-1234 ', 'aBcd-1234'],
  ] as const)('as %s: %j becomes %j', (format, typed, code) => {
    expect(cleanCode(typed, format)).toBe(code);
  });
});
