import { locales } from '../delivery/locale.ts';
import { wordingIn } from '../delivery/texts.ts';
import type { MessageContent } from '../delivery/wording.ts';
import type { TextKey } from './texts.ts';

const samples = {
  'sign-in-code': { template: 'sign-in-code', app: '{app}', code: '{code}', minutes: 5 },
  'factor-code': { template: 'factor-code', app: '{app}', code: '{code}', minutes: 5 },
  'new-device': { template: 'new-device', app: '{app}', device: '', at: '2026-01-01T00:00:00Z' },
} as const satisfies Record<string, MessageContent>;

/** The standard texts of mails, with placeholders. Those of pages are in the pages' code. */
export function standardMailTexts(): { locale: string; key: TextKey; text: string }[] {
  return locales.flatMap((locale) =>
    Object.values(samples).flatMap((sample) => {
      const wording = wordingIn(locale, sample);
      return [
        { locale, key: `${sample.template}.subject` as const, text: wording.subject },
        { locale, key: `${sample.template}.intro` as const, text: wording.before[0] ?? '' },
      ];
    }),
  );
}
