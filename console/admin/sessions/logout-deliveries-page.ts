import { withTexts } from '../language/language.ts';
import { logoutTexts } from '../logout/texts.ts';

/** The texts load before the module. */
export const { Component } = await withTexts(logoutTexts, () => import('../logout/logout-deliveries-page.tsx'));
