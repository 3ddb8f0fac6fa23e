import { describe, expect, it } from 'vitest';
import { checkNumber } from './numbers.ts';

const faultOf = (number: string, countries: string[] = []) => checkNumber(number, countries).fault;

describe('the kind of a number', () => {
  it.each([
    ['a mobile', '+4915112345678'],
    ['a mobile', '+41790000001'],
    ['a number that may be a mobile', '+12025550143'],
    ['a mobile of Bangladesh, next to the international codes', '+8801712345678'],
    ['a mobile of Taiwan, next to the international codes', '+886912345678'],
    ['a fictional number missing from the metadata', '+15555550100'],
    ['a number of a range newer than the metadata', '+4917000000'],
  ])('%s passes: %s', (_, number) => {
    expect(faultOf(number)).toBeNull();
  });

  it.each([
    ['Inmarsat', '+870773123456'],
    ['Inmarsat, of the wrong length', '+87012345678'],
    ['Iridium', '+8816234567890'],
    ['Globalstar', '+8818123456789'],
    ['Thuraya', '+88216621234567'],
    ['international networks', '+883510012345'],
    ['personal numbers without a country', '+878101234567890'],
    ['disaster relief', '+88812345678'],
    ['international premium rate', '+979123456789'],
    ['international freephone', '+80012345678'],
    ['international shared cost', '+80812345678'],
    ['900 of North America', '+19001234567'],
  ])('%s is refused: %s', (_, number) => {
    expect(faultOf(number)).toBe('international');
  });

  it.each([
    ['premium rate', '+33899123456', 'premium'],
    ['premium rate', '+449098790000', 'premium'],
    ['shared cost', '+49180512345', 'premium'],
    ['a company-wide number', '+443001234567', 'premium'],
    ['voicemail', '+41860791234567', 'premium'],
    ['a pager', '+447640123456', 'premium'],
    ['a fixed line', '+41440000000', 'fixed-line'],
    ['an unassigned calling code', '+210123456789', 'unassigned'],
  ])('%s is refused: %s', (_, number, fault) => {
    expect(faultOf(number)).toBe(fault);
  });
});

describe('the country of a number', () => {
  it('must be one that the project allows, if it lists any', () => {
    expect(faultOf('+4915112345678', ['CH', 'DE'])).toBeNull();
    expect(faultOf('+4915112345678', ['CH'])).toBe('country');
    expect(faultOf('+41790000001', ['CH'])).toBeNull();
  });

  it('is distinguished if several share a calling code', () => {
    expect(faultOf('+12025550143', ['US'])).toBeNull();
    expect(faultOf('+18765551234', ['US'])).toBe('country');
    expect(faultOf('+447624123456', ['GB'])).toBe('country');
  });

  it('is any of those that share the code, if the number is ambiguous', () => {
    expect(faultOf('+15555550100', ['US'])).toBeNull();
    expect(faultOf('+1234567', ['CA'])).toBeNull();
    expect(faultOf('+15555550100', ['DE'])).toBe('country');
  });

  it('does not allow a refused kind', () => {
    expect(faultOf('+33899123456', ['FR'])).toBe('premium');
  });
});

describe('the range of a number', () => {
  it('is its calling code and five digits', () => {
    expect(checkNumber('+4915112345678', []).prefix).toBe('+4915112');
    expect(checkNumber('+12025550143', []).prefix).toBe('+120255');
    expect(checkNumber('+99912345678', []).prefix).toBe('+99912');
  });

  it('is the same with a trunk prefix', () => {
    const plain = checkNumber('+4915112345678', []);
    expect(checkNumber('+49015112345678', [])).toEqual(plain);
  });
});
