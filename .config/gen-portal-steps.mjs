/**
 * Writes the steps in the screens of directories for the set-up portal, from those of the console and its catalogs. With `--check`,
 * fails if the file is out of date.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { catalogOf, languages } from './lib/messages.mjs';
import { fail, root } from './lib/workspace.mjs';

// Marks the texts, as opposed to names of attributes: the console translates them when its modules are loaded.
const english = 'data:text/javascript,export const t = (text) => ({ text });';
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '../language/language.ts' ? { url: english, shortCircuit: true } : next(specifier, context),
});
const { providers } = await import('../console/admin/directories/providers.ts');

const isCustom = ({ text = '' }) => text.includes('{urn}');
const address = [{ text: 'SCIM address' }, '{address}'];
const token = [{ text: 'Token' }, { text: 'the token' }];

const guides = providers.map(({ name, note, steps }) => ({
  name,
  steps: steps.filter(({ forAdmins }) => !forAdmins).map(stepOf),
  ...(note === undefined ? {} : { note }),
}));

/** The address is a value; the token is not shown again. */
function stepOf({ text, values = [], settings = [] }) {
  const shown = settings
    .filter(([, value]) => !isCustom(value))
    .map(([name, value]) => [name, value.text === 'the SCIM address' ? '{address}' : value]);
  const named = shown.some(([, value]) => value === '{address}');
  return { text, settings: values.length === 0 || named ? shown : [address, token, ...shown] };
}

function translated(value, catalog) {
  if (typeof value === 'string') return value;
  if (typeof value.text === 'string') return catalog[value.text] || value.text;
  if (Array.isArray(value)) return value.map((one) => translated(one, catalog));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, translated(one, catalog)]));
}

const catalogs = { en: {} };
for (const language of languages)
  catalogs[language] = JSON.parse(readFileSync(join(root, catalogOf(language)), 'utf8'));
const texts = Object.entries(catalogs).map(
  ([language, catalog]) =>
    `  ${language}: [\n${translated(guides, catalog)
      .map((guide) => `    ${JSON.stringify(guide)},\n`)
      .join('')}  ],\n`,
);
const path = 'server/src/portal/generated/directory-steps.ts';
const text = `// Written by npm run gen from console/admin/directories/providers.ts. Do not edit.
// biome-ignore-all format: generated
import type { PortalLanguage } from '../texts.ts';

/** The way through the screens of a directory, in its own words. */
export interface DirectoryGuide {
  name: string;
  /** \`{address}\` is that of the SCIM service. */
  steps: readonly { text: string; settings: readonly (readonly string[])[] }[];
  note?: string;
}

export const directoryGuides: Readonly<Record<PortalLanguage, readonly DirectoryGuide[]>> = {
${texts.join('')}};
`;
const file = join(root, path);
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  if (process.argv.includes('--check')) fail(`${path} is out of date: run npm run gen`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`${path}\n`);
}
