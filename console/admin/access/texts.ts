import type { AreaTexts } from '../language/language.ts';

export const accessTexts: AreaTexts = import.meta.glob<Record<string, string>>('../language/messages/access/*.json', {
  import: 'default',
});
