// Written by npm run gen from console/signin/messages. Do not edit.
// biome-ignore-all format: generated
import { ar } from './ar.ts';
import { cs } from './cs.ts';
import { da } from './da.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fi } from './fi.ts';
import { fr } from './fr.ts';
import { he } from './he.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { ko } from './ko.ts';
import { nb } from './nb.ts';
import { nl } from './nl.ts';
import { pl } from './pl.ts';
import { ptBR } from './pt-br.ts';
import { sv } from './sv.ts';
import { tr } from './tr.ts';
import { zhHans } from './zh-hans.ts';
import type { locales } from './languages.ts';

type Locale = (typeof locales)[number];
export type MailKey = keyof typeof en;

/** Texts of mails by language and key, as ICU messages. */
export const mailTexts: Record<Locale, Record<MailKey, string>> = {
  'en': en,
  'de': de,
  'es': es,
  'fr': fr,
  'ja': ja,
  'ar': ar,
  'cs': cs,
  'da': da,
  'fi': fi,
  'he': he,
  'it': it,
  'ko': ko,
  'nb': nb,
  'nl': nl,
  'pl': pl,
  'pt-BR': ptBR,
  'sv': sv,
  'tr': tr,
  'zh-Hans': zhHans,
};
