import { describe, expect, it } from 'vitest';
import { typedCode } from './typed-code.ts';

describe('a typed code', () => {
  it.each([
    ['full-width digits', '１２３ ４５６'],
    ['Arabic-Indic digits', '١٢٣٤٥٦'],
    ['extended Arabic-Indic digits', '۱۲۳۴۵۶'],
    ['Devanagari digits', '१२३४५६'],
    ['Adlam digits, outside the basic plane', '𞥑𞥒𞥓𞥔𞥕𞥖'],
    ['mathematical digits', '𝟏𝟐𝟑𝟜𝟝𝟞'],
    ['direction marks and a zero-width space', '\u200F123\u200B456\u202C'],
    ['any dash', '123–456'],
    ['a full-width dash', '１２３－４５６'],
    ['a minus sign', '123−456'],
    ['an ideographic space', '123\u3000456'],
  ])('with %s is read as digits', (_name, typed) => {
    expect(typedCode(typed)).toBe('123456');
  });

  it.each([
    ['7k3qx-9m2hd', '7K3QX9M2HD'],
    ['７ｋ３ｑｘ－９ｍ２ｈｄ', '7K3QX9M2HD'],
    ['', ''],
  ])('%j is %j', (typed, code) => {
    expect(typedCode(typed)).toBe(code);
  });
});
