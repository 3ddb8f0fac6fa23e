/**
 * Extracts the messages of the console, and those of the server that it shows, into the catalogs of its languages: adds
 * new ones with an empty translation, which a test refuses, unless it is declared with the setting, and removes those that are no longer used. With `--check`,
 * fails if a catalog is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resources } from '../server/dist/resources.js';
import { catalogOf, consoleSources, languages, read } from './lib/messages.mjs';
import { serverTexts } from './lib/server-texts.mjs';
import { fail, root } from './lib/workspace.mjs';

const messages = consoleSources(root).flatMap((path) => read(join(root, path)).messages.map(({ text }) => text));
const sorted = [...new Set([...messages, ...serverTexts(root)])].sort();
/** Translations of declared settings: the declarations have them. */
const declared = Object.values(resources).flatMap((fields) =>
  Object.values(fields).flatMap(({ control }) => (control ? [control.label, control.help] : [])),
);
for (const language of languages) {
  const path = catalogOf(language);
  const before = readFileSync(join(root, path), 'utf8');
  const known = {
    ...JSON.parse(before),
    ...Object.fromEntries(declared.map((text) => [text.en, text[language]])),
  };
  const after = `${JSON.stringify(Object.fromEntries(sorted.map((text) => [text, known[text] ?? ''])), null, 2)}\n`;
  if (after === before) continue;
  if (process.argv.includes('--check')) fail(`${path} is out of date: run npm run gen`);
  writeFileSync(join(root, path), after);
  process.stdout.write(`${path}\n`);
}
