import { locale } from '../language/language.ts';

export const count = new Intl.NumberFormat(locale);

/** "1 user", "1,200 users". */
export const counted = (number: number, noun: string) => `${count.format(number)} ${noun}${number === 1 ? '' : 's'}`;
