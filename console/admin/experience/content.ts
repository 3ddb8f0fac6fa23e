import type { ExperiencePartsFragment } from '../generated/operations.ts';
import { pageLanguages } from '../generated/page-languages.ts';
import { lower, t } from '../language/language.ts';
import type { Change } from '../ui/forms/save-bar.tsx';

/** Form values: names, color, logos and texts by language and key. */
export interface Content {
  displayName: string;
  accent: string;
  logoId: string;
  darkLogoId: string;
  /** Keyed by language and name: `de.heading`. */
  texts: Record<string, string>;
}

export type Language = (typeof pageLanguages)[number];

/** A language by its own name. */
function nameIn(language: Language): string {
  const [first = '', ...rest] = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
  return first.toLocaleUpperCase(language) + rest.join('');
}

/** Languages of pages and messages, by their own names. */
export const languages = Object.fromEntries(pageLanguages.map((language) => [language, nameIn(language)])) as Record<
  Language,
  string
>;

export const textNames: Record<string, string> = {
  heading: t('Heading'),
  subline: t('Subtitle'),
  footer: t('Footer'),
  supportUrl: t('Help'),
  privacyUrl: t('Privacy notice'),
  termsUrl: t('Terms of use'),
  'sign-in-code.subject': t('Subject'),
  'sign-in-code.intro': t('First sentence'),
  'factor-code.subject': t('Subject'),
  'factor-code.intro': t('First sentence'),
  'new-device.subject': t('Subject'),
  'new-device.intro': t('First sentence'),
};

export const mailNames: Record<string, string> = {
  'sign-in-code': t('Sign-in code'),
  'factor-code': t('Second-factor code'),
  'new-device': t('New device notice'),
};

export function contentOf(parts: ExperiencePartsFragment): Content {
  return {
    displayName: parts.displayName ?? '',
    accent: parts.accent ?? '',
    logoId: parts.logoId ?? '',
    darkLogoId: parts.darkLogoId ?? '',
    texts: Object.fromEntries(parts.texts.map(({ locale, key, text }) => [`${locale}.${key}`, text])),
  };
}

/** Maps form values to the admin API's input. */
export function inputOf({ texts, ...rest }: Content) {
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, value.trim() || null])),
    texts: Object.entries(texts)
      .filter(([, text]) => text.trim() !== '')
      .map(([name, text]) => ({ ...partsOf(name), text })),
  };
}

/** The differences as labelled before/after texts. */
export function changesBetween(before: Content, after: Content): Change[] {
  const changes: Change[] = [];
  const add = (label: string, one: string, two: string) => {
    if (one.trim() !== two.trim()) changes.push({ label, before: one, after: two });
  };
  add(t('Display name'), before.displayName, after.displayName);
  add(t('Color'), before.accent, after.accent);
  if (before.logoId !== after.logoId) add(t('Logo'), imageText(before.logoId), replaced(before.logoId, after.logoId));
  if (before.darkLogoId !== after.darkLogoId) {
    add(t('Dark mode logo'), imageText(before.darkLogoId), replaced(before.darkLogoId, after.darkLogoId));
  }
  for (const name of [...new Set([...Object.keys(before.texts), ...Object.keys(after.texts)])].sort()) {
    add(labelOf(name), before.texts[name] ?? '', after.texts[name] ?? '');
  }
  return changes;
}

const imageText = (id: string) => (id ? t('an image') : '');
const replaced = (before: string, after: string) => (after && before ? t('another image') : imageText(after));

/** `pt-BR.sign-in-code.subject` */
function partsOf(name: string): { locale: string; key: string } {
  const end = name.indexOf('.');
  return { locale: name.slice(0, end), key: name.slice(end + 1) };
}

function labelOf(name: string): string {
  const { locale: language, key } = partsOf(name);
  const [template, part] = key.split('.');
  const label = part ? `${mailNames[template ?? '']}: ${lower(textNames[key] ?? key)}` : (textNames[key] ?? key);
  return `${label} (${languages[language as Language] ?? language})`;
}
