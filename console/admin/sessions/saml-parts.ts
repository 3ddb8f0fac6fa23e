import { withTexts } from '../language/language.ts';
import { samlTexts } from '../saml/texts.ts';

/** The parts of SAML applications, with their texts. */
export const samlParts = () => withTexts(samlTexts, () => import('../saml/parts.ts'));
/** The page of enterprise credentials, with its texts. */
export const enterprisePage = () => withTexts(samlTexts, () => import('../saml/enterprise-page.tsx'));
