import type { AreaTexts } from '../language/language.ts';

export const signupsTexts: AreaTexts = import.meta.glob<Record<string, string>>('../language/messages/signups/*.json', {
  import: 'default',
});
