import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.mjs';

const folder = 'console/signin/messages';
/** Languages of the console. */
const first = ['en', 'de', 'es', 'fr', 'ja'];

/** Languages of pages and messages (BCP 47), English first: each has a catalog. */
export const pageLanguages = [
  ...first,
  ...readdirSync(join(root, folder))
    .map((file) => file.replace(/\.json$/, ''))
    .filter((language) => !first.includes(language))
    .sort(),
];

/** Languages in the script of the web component, as many as its budget permits; it loads the others. */
export const elementLanguages = ['en', 'de', 'es', 'fr'];

/** The catalog of a language: ICU messages by key. */
export const pageTexts = (language) => JSON.parse(readFileSync(join(root, folder, `${language}.json`), 'utf8'));

/** Keys of the texts that the web component shows. */
export const elementKeys = () =>
  [...readFileSync(join(root, 'shared/browser/src/elements/keys.ts'), 'utf8').matchAll(/^ {2}'([\w.]+)',$/gm)].map(
    ([, key]) => key,
  );
