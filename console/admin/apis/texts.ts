import type { AreaTexts } from '../language/language.ts';

export const apisTexts: AreaTexts = import.meta.glob<Record<string, string>>('../language/messages/apis/*.json', {
  import: 'default',
});
