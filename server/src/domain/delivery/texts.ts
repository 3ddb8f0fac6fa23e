import type { Locale } from './locale.ts';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { es } from './texts/es.ts';
import { fr } from './texts/fr.ts';
import { ja } from './texts/ja.ts';
import type { Texts } from './wording.ts';

/** Message texts by language. */
export const texts: Record<Locale, Texts> = { en, de, es, fr, ja };
