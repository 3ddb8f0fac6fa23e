import type { AreaTexts } from '../language/language.ts';

export const rolesTexts: AreaTexts = import.meta.glob<Record<string, string>>('../language/messages/roles/*.json', {
  import: 'default',
});
