import type { AreaTexts } from '../language/language.ts';

export const messagesTexts: AreaTexts = import.meta.glob<Record<string, string>>(
  '../language/messages/messages/*.json',
  {
    import: 'default',
  },
);
