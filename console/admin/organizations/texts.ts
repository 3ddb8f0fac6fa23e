import type { AreaTexts } from '../language/language.ts';

export const organizationsTexts: AreaTexts = import.meta.glob<Record<string, string>>(
  '../language/messages/organizations/*.json',
  { import: 'default' },
);
