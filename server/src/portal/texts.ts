import { de } from './texts/de.ts';
import { en, type PortalTexts } from './texts/en.ts';
import { es } from './texts/es.ts';
import { fr } from './texts/fr.ts';
import { ja } from './texts/ja.ts';

/** Texts of the portal; the languages of the console. English first: the default. */
export const portalTexts = { en, de, es, fr, ja } satisfies Record<string, PortalTexts>;
export type PortalLanguage = keyof typeof portalTexts;
