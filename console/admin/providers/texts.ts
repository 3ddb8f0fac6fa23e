import type { AreaTexts } from '../language/language.ts';

export const providersTexts: AreaTexts = import.meta.glob<Record<string, string>>(
  '../language/messages/providers/*.json',
  { import: 'default' },
);
