import type { AreaTexts } from '../language/language.ts';

export const samlTexts: AreaTexts = import.meta.glob<Record<string, string>>('../language/messages/saml/*.json', {
  import: 'default',
});
