import { describe, expect, it } from 'vitest';
import { findDigits } from './one-time-code.ts';

describe('the six digits in a pasted text', () => {
  it.each([
    ['123456', '123456'],
    [' 123 456\n', '123456'],
    ['Your code is 123-456. It is valid for 5 minutes.', '123456'],
    ['１２３４５６', '123456'],
    ['492 817 is your sign-in code for Harbor.', '492817'],
  ])('%j is %s', (text, digits) => {
    expect(findDigits(text)).toBe(digits);
  });

  it.each(['', '12345', '1234567', 'call +49 30 1234567', '123456 or 654321', 'abc'])(
    '%j holds none for sure',
    (text) => {
      expect(findDigits(text)).toBeUndefined();
    },
  );
});
