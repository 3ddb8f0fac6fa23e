import { claimsTexts } from '../../claims/texts.ts';
import { withTexts } from '../../language/language.ts';

/** The page, with the descriptions of claims. */
export const { Component } = await withTexts(claimsTexts, () => import('../../claims/trial-page.tsx'));
