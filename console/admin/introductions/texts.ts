import type { AreaTexts } from '../language/language.ts';

export const introductionsTexts: AreaTexts = import.meta.glob<Record<string, string>>(
  '../language/messages/introductions/*.json',
  { import: 'default' },
);
