import type { AreaTexts } from '../language/language.ts';

export const claimsTexts: AreaTexts = import.meta.glob<Record<string, string>>('../language/messages/claims/*.json', {
  import: 'default',
});
