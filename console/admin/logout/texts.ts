import type { AreaTexts } from '../language/language.ts';

export const logoutTexts: AreaTexts = import.meta.glob<Record<string, string>>('../language/messages/logout/*.json', {
  import: 'default',
});
