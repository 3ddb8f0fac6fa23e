import type { AreaTexts } from '../language/language.ts';

export const attributesTexts: AreaTexts = import.meta.glob<Record<string, string>>(
  '../language/messages/attributes/*.json',
  {
    import: 'default',
  },
);
