import type { AreaTexts } from '../language/language.ts';

export const connectTexts: AreaTexts = import.meta.glob<Record<string, string>>('../language/messages/connect/*.json', {
  import: 'default',
});
