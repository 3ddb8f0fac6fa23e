import { connectTexts } from '../../connect/texts.ts';
import { withTexts } from '../../language/language.ts';

/** The parts of products, with their texts. */
export const loadParts = () => withTexts(connectTexts, () => import('../../connect/product-parts.ts'));
