/**
 * Extracts the messages of the console, and those of the server that it shows, into the catalogs of its languages. Adds
 * new ones with the translation from the declaration of a setting, or with an empty one, which a test refuses; removes
 * unused ones. A message moves, with its translation, between the main catalog and that of an area. With `--check`,
 * fails if a catalog is out of date.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resources } from '../server/dist/nouns.js';
import { areasOf, catalogOf, catalogued, consoleSources, languages, read } from './lib/messages.mjs';
import { serverTexts } from './lib/server-texts.mjs';
import { fail, root } from './lib/workspace.mjs';

const areas = areasOf(root);
const sources = consoleSources(root).map((path) => ({ path, ...read(join(root, path)) }));
const catalogs = catalogued(areas, sources, serverTexts(root));
/** Translations of declared settings: the declarations have them. */
const declared = Object.values(resources).flatMap((fields) =>
  Object.values(fields).flatMap(({ control }) => (control ? [control.label, control.help] : [])),
);
const textOf = (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '');
for (const language of languages) {
  const paths = [undefined, ...areas].map((area) => catalogOf(language, area));
  const known = {
    ...Object.assign({}, ...paths.map((path) => JSON.parse(textOf(path) || '{}'))),
    ...Object.fromEntries(declared.map((text) => [text.en, text[language]])),
  };
  for (const [area, messages] of catalogs) {
    const path = catalogOf(language, area);
    const after = `${JSON.stringify(Object.fromEntries(messages.map((text) => [text, known[text] ?? ''])), null, 2)}\n`;
    if (after === textOf(path)) continue;
    if (process.argv.includes('--check')) fail(`${path} is out of date: run npm run gen`);
    writeFileSync(join(root, path), after);
    process.stdout.write(`${path}\n`);
  }
}
