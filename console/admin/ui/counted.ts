import { locale } from '../language/language.ts';

export const count = new Intl.NumberFormat(locale);
/** "10,000+": there are more than were counted. */
export const atLeast = (number: number, isMore: boolean) => `${count.format(number)}${isMore ? '+' : ''}`;
/** With one decimal place. */
export const tenths = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** "1 user", "1,200 users". */
export const counted = (number: number, noun: string) => `${count.format(number)} ${noun}${number === 1 ? '' : 's'}`;
