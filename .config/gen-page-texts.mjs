/**
 * Writes the texts of mails for the server, from the catalogs of the pages, and the list of languages for the server and the
 * console. With `--check`, fails if a file is out of date.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pageLanguages, pageTexts } from './lib/page-languages.mjs';
import { fail, root } from './lib/workspace.mjs';

const notice =
  '// Written by npm run gen from console/signin/messages. Do not edit.\n// biome-ignore-all format: generated\n';
const folder = 'server/src/domain/delivery/generated';
const fileOf = (language) => language.toLowerCase();
const nameOf = (language) => language.replace('-', '');

for (const language of pageLanguages) {
  const texts = Object.entries(pageTexts(language)).filter(([key]) => key.startsWith('mail.'));
  const lines = texts.map(
    ([key, text]) => `  ${JSON.stringify(key.slice('mail.'.length))}: ${JSON.stringify(text)},\n`,
  );
  put(`${folder}/${fileOf(language)}.ts`, `${notice}export const ${nameOf(language)} = {\n${lines.join('')}};\n`);
}
const list = `[${pageLanguages.map((language) => `'${language}'`).join(', ')}] as const`;
const imports = [...pageLanguages].sort().map((one) => `import { ${nameOf(one)} } from './${fileOf(one)}.ts';\n`);
const tables = pageLanguages.map((language) => `  '${language}': ${nameOf(language)},\n`);
put(
  `${folder}/texts.ts`,
  `${notice}${imports.join('')}import type { locales } from './languages.ts';

type Locale = (typeof locales)[number];
export type MailKey = keyof typeof en;

/** Texts of mails by language and key, as ICU messages. */
export const mailTexts: Record<Locale, Record<MailKey, string>> = {
${tables.join('')}};
`,
);
const labels = pageLanguages.map((one) => `  '${one}': ${JSON.stringify(pageTexts(one)['address.submit'])},\n`);
put(
  `${folder}/languages.ts`,
  `${notice}/** Languages of pages and messages (BCP 47), English first. */\nexport const locales = ${list};\n\n/** Label of a "Continue" button. */\nexport const continueLabels = {\n${labels.join('')}};\n`,
);
if (existsSync(join(root, 'console/admin')))
  put(
    'console/admin/generated/page-languages.ts',
    `${notice}/** Languages of pages and messages (BCP 47). */\nexport const pageLanguages = ${list};\n`,
  );

function put(path, text) {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  if (process.argv.includes('--check')) fail(`${path} is out of date: run npm run gen`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`${path}\n`);
}
