import { store, stored } from '../ui/storage.ts';
import { formatEnglish, type Values } from './english.ts';
import { serverTranslator } from './server-text.ts';

/** Languages of the console, by their own names. */
export const languages = { en: 'English', de: 'Deutsch', fr: 'Français', es: 'Español', ja: '日本語' } as const;
export type Language = keyof typeof languages;

/** Catalogs: English text to translation. English needs none. */
const catalogs = import.meta.glob<Record<string, string>>('./messages/*.json', { import: 'default' });

const key = 'lk-language';
const isLanguage = (value: unknown): value is Language => typeof value === 'string' && value in languages;
const stem = (tag: string) => tag.split('-', 1)[0];
const choice = stored(key);
/** `Intl` refuses tags of POSIX locales, e.g. `en-US@posix`. */
const isTag = (tag: string) => /^[a-z\d-]+$/i.test(tag);
// Tests have no document, and are in English.
const preferred = typeof document === 'undefined' ? [] : navigator.languages.filter(isTag);

/** The language that the admin chose; null: the browser's. */
export const chosenLanguage: Language | null = isLanguage(choice) ? choice : null;
const wanted = chosenLanguage ?? preferred.map(stem).find(isLanguage) ?? 'en';

// Before the modules that import this one: they may translate when they are loaded. English does not wait.
const translated = wanted === 'en' ? undefined : await load(wanted);

/** The language of this page. A choice reloads it. */
export const language: Language = translated ? wanted : 'en';
/** Locale of numbers and times: the browser's, if it prefers this language. */
export const locale = language === 'en' ? 'en-GB' : (preferred.find((tag) => stem(tag) === language) ?? language);

/** Catalogs of an area of the console: `import.meta.glob('../language/messages/‹area›/*.json', { import: 'default' })`. */
export type AreaTexts = Readonly<Record<string, () => Promise<Record<string, string>>>>;

/** Loads a part of the console after its texts: its modules may translate when they are loaded. English does not wait. */
export async function withTexts<Part>(texts: AreaTexts, part: () => Promise<Part>): Promise<Part> {
  const name = Object.keys(texts).find((path) => path.endsWith(`/${language}.json`));
  // Without the file, the part is in English.
  const more = translated && name && (await texts[name]?.().catch(() => undefined));
  if (more) Object.assign(translated.messages, more);
  return part();
}

/** Text in the language of the page. @param message English, as an ICU message; see english.ts for its form */
export function t(message: string, values?: Values): string {
  return fill(translationOf(message), values);
}

export const translationOf = (message: string): string => translated?.messages[message] || message;

/** A translated sentence with its placeholders, `{name}`, which the caller replaces with elements. */
export function template(message: string): string {
  return translationOf(message);
}

const translateServerText = translated && serverTranslator(translated.messages, translated.format);

/** A text of the server in the language of the page; unchanged if the catalog lacks it. */
export const serverText = (text: string): string => translateServerText?.(text) ?? text;

export function fill(text: string, values: Values | undefined): string {
  return values ? (translated?.format ?? formatEnglish)(text, values) : text;
}

/** A noun within a sentence. German keeps its capital. */
export const lower = (noun: string): string => (language === 'de' ? noun : noun.toLocaleLowerCase(locale));

/** Stores the choice and reloads the page. Null: the browser's language. */
export function chooseLanguage(next: Language | null): void {
  store(key, next);
  location.reload();
}

/** Undefined if the files cannot be fetched: the page is in English then. */
async function load(
  to: Language,
): Promise<{ messages: Record<string, string>; format(text: string, values: Values): string } | undefined> {
  try {
    const [messages, { formatter }] = await Promise.all([
      catalogs[`./messages/${to}.json`]?.(),
      import('./formatter.ts'),
    ]);
    return messages && { messages, format: formatter(to) };
  } catch {
    return undefined;
  }
}
