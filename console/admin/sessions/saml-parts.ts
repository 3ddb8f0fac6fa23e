import { withTexts } from '../language/language.ts';
import { samlTexts } from '../saml/texts.ts';

/** The parts of SAML applications, with their texts. */
export const { CreateSamlPage, EnterprisePage, SamlSettings, SamlSetup } = await withTexts(
  samlTexts,
  () => import('../saml/parts.ts'),
);
