import type { AreaTexts } from '../language/language.ts';

export const connectionsTexts: AreaTexts = import.meta.glob<Record<string, string>>(
  '../language/messages/connections/*.json',
  { import: 'default' },
);
