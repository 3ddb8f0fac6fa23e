import {
  getCountries,
  getCountryCallingCode,
  type NumberType,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';

/** The reason to refuse SMS to a number. */
export type NumberFault =
  /** No country has this calling code. */
  | 'unassigned'
  /** Satellite, maritime and international networks, and other codes without a country. */
  | 'international'
  | 'premium'
  | 'fixed-line'
  /** Not allowed by the project. */
  | 'country';

export interface CheckedNumber {
  /** E.164, without a trunk prefix that was typed after the calling code. */
  number: string;
  /** Calling code and the first five digits after it: a range of one operator. */
  prefix: string;
  fault: NumberFault | null;
}

const prefixDigits = 5;
/**
 * ITU-T E.164 codes without a country: 800, 808, 87x, 881 to 883, 888, 979, 991; and 900 of North America, in use or
 * not.
 */
const refusedRanges = /^\+(800|808|87|88[1238]|979|991|1900)/;
const premium: readonly NumberType[] = ['PREMIUM_RATE', 'SHARED_COST', 'UAN', 'PAGER', 'VOICEMAIL'];

/**
 * Checks a number in E.164 against the metadata of libphonenumber. The data is never quite up to date, so a number that
 * is merely invalid there passes.
 *
 * @param countries ISO 3166-1 alpha-2; empty: every country
 */
export function checkNumber(number: string, countries: readonly string[]): CheckedNumber {
  const parsed = parsePhoneNumberFromString(number);
  if (!parsed) return { number, prefix: number.slice(0, 1 + prefixDigits), fault: 'unassigned' };
  const canonical: string = parsed.number;
  const prefix = canonical.slice(0, 1 + parsed.countryCallingCode.length + prefixDigits);
  const fault = (): NumberFault | null => {
    if (refusedRanges.test(canonical) || parsed.isNonGeographic()) return 'international';
    const type = parsed.getType();
    if (premium.includes(type)) return 'premium';
    if (countries.length > 0 && !countriesOf(parsed).some((country) => countries.includes(country))) return 'country';
    return type === 'FIXED_LINE' ? 'fixed-line' : null;
  };
  return { number: canonical, prefix, fault: fault() };
}

/** The possible countries: several share a calling code. */
function countriesOf(parsed: NonNullable<ReturnType<typeof parsePhoneNumberFromString>>): readonly string[] {
  if (parsed.country) return [parsed.country];
  const possible = parsed.getPossibleCountries();
  if (possible.length > 0) return possible;
  return getCountries().filter((country) => getCountryCallingCode(country) === parsed.countryCallingCode);
}
