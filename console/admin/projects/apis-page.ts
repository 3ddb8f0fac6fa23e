import { apisTexts } from '../apis/texts.ts';
import { withTexts } from '../language/language.ts';

/** The page of APIs, with its texts. */
export const { Component } = await withTexts(apisTexts, () => import('../apis/apis-page.tsx'));
