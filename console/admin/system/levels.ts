import type { SystemQuery } from '../generated/operations.ts';
import { locale, t } from '../language/language.ts';
import type { Tone } from '../theme.ts';

export type Level = SystemQuery['system']['level'];

export const levels: Record<Level, { tone: Tone; text: string }> = {
  OK: { tone: 'good', text: 'OK' },
  WARN: { tone: 'note', text: t('Needs attention') },
  FAIL: { tone: 'bad', text: t('Failing') },
};

const size = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });

/** "12.3 MB". */
export function bytes(count: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const step = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  return `${size.format(count / 1000 ** step)} ${units[step]}`;
}
