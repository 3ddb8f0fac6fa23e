import type { Locale } from '../delivery/locale.ts';
import { cleanMailName } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';
import { isUuid } from '../kernel/secret.ts';
import { checkTexts, type TextKey, type Texts, textsIn } from './texts.ts';

/** Branding of a project's pages and mails. Null: Latchkey's default. */
export interface ExperienceContent {
  /** Replaces the project's name. */
  displayName: string | null;
  /** `#rrggbb`. */
  accent: string | null;
  logoId: string | null;
  /** For dark backgrounds; absent: the same logo. */
  darkLogoId: string | null;
  texts: Texts;
}

export interface ExperienceInput {
  displayName?: string | null | undefined;
  accent?: string | null | undefined;
  logoId?: string | null | undefined;
  darkLogoId?: string | null | undefined;
  texts?: readonly { locale: string; key: string; text: string }[] | null | undefined;
}

export const plainContent: ExperienceContent = {
  displayName: null,
  accent: null,
  logoId: null,
  darkLogoId: null,
  texts: {},
};

/** Validates the content. Refuses `invalid`. Does not check that the logos belong to the project. */
export function checkContent(input: ExperienceInput): ExperienceContent {
  return {
    displayName: input.displayName?.trim() ? cleanMailName(input.displayName, 'displayName') : null,
    accent: input.accent?.trim() ? checkColor(input.accent) : null,
    logoId: checkId('logoId', input.logoId),
    darkLogoId: checkId('darkLogoId', input.darkLogoId),
    texts: checkTexts(input.texts ?? []),
  };
}

/** Normalizes `#2F55D4` and `#25d` to `#rrggbb`. Refuses `invalid`. */
export function checkColor(color: string): string {
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(color.trim()) ?? [];
  if (digits === undefined) refuse({ code: 'invalid', field: 'accent', reason: 'must be a color such as #2f55d4' });
  const six = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits;
  return `#${six.toLowerCase()}`;
}

function checkId(field: string, id: string | null | undefined): string | null {
  if (!id) return null;
  if (!isUuid(id)) refuse({ code: 'invalid', field, reason: 'must be the id of a logo of this project' });
  return id;
}

/** The content in one language. */
export interface Brand {
  /** The project's display name. */
  name: string;
  accent: string | null;
  logo: { light: string; dark: string } | null;
  texts: Partial<Record<TextKey, string>>;
}

export function brandIn(content: ExperienceContent, projectName: string, locale: Locale): Brand {
  const light = content.logoId ?? content.darkLogoId;
  return {
    name: content.displayName ?? projectName,
    accent: content.accent,
    logo: light === null ? null : { light, dark: content.darkLogoId ?? light },
    texts: textsIn(content.texts, locale),
  };
}

/** Every part by its path, for comparisons: `displayName`, `texts.de.heading`. */
export function partsOf({ texts, ...rest }: ExperienceContent): Record<string, string | null> {
  const own = Object.entries(texts).flatMap(([locale, ofLocale]) =>
    Object.entries(ofLocale).map(([key, text]) => [`texts.${locale}.${key}`, text] as const),
  );
  return { ...rest, ...Object.fromEntries(own) };
}
