import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, it } from 'vitest';
import { formatEnglish } from '../console/admin/language/english.ts';
import { areaOf, areasOf, catalogOf, catalogued, consoleSources, isSnippet, languages, read } from './lib/messages.mjs';
import { serverTexts } from './lib/server-texts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The same in all languages. */
const same = new Set([
  // Names, and keys of a keyboard.
  ...['Latchkey', 'Control+K Meta+K', 'Tab', 'Esc'],
  ...['Edge', 'Opera', 'Firefox', 'Chrome', 'Safari', 'Samsung Internet', 'Android', 'ChromeOS', 'Windows', 'Linux'],
  ...['English', 'Deutsch', 'Español', 'Français', 'Okta', 'Microsoft Entra ID', 'OneLogin', 'JumpCloud'],
  ...['Google', 'PingOne', 'Auth0', 'Keycloak', 'GitLab', 'OpenID Connect'],
  // Fields of identity providers.
  ...['Sign-in redirect URIs', 'Redirect URI, Web', 'Authorized redirect URIs', 'Configuration, Redirect URIs'],
  ...[
    'Redirect URIs',
    'Redirect URI',
    'NameID',
    'SAML',
    '<EntityDescriptor …>',
    'Allowed Callback URLs',
    'Valid redirect URIs',
    'example.com',
  ],
  ...[
    'A logo',
    'DE, SE, US',
    'example.com, *.example.com',
    'example.net',
    '2fc0579f-8113-47ea-b116-bb5a8db9202a',
    '-----BEGIN CERTIFICATE-----',
  ],
  ...['Switch([IsSoftDeleted], …)', 'emails[type eq "work"].value'],
  ...['webhook-id', 'Authorization', ', gzip', '${userName}@example.com', 'login.example.com'],
  'sso aws salesforce slack zoom google workspace atlassian zendesk box dropbox',
  '.xml,text/xml,application/xml,application/samlmetadata+xml',
  ...['EdDSA', 'Ed25519', '{ "kty": "OKP", "crv": "Ed25519", "x": "…" }'],
  // Codes of the sources, style sheets and the API.
  ...['as a hash', 'not all', '.frame, body > div', 'input, textarea, select, [contenteditable="true"]'],
  "curl -OJ '‹{}{}›' \\ -H 'Authorization: Bearer <admin API token>'",
  "curl ‹{}›/admin/graphql \\ -H 'Authorization: Bearer <admin API token>' \\ -H 'Content-Type: application/json' \\ -d '{}'",
]);

const sources = consoleSources(root).map((path) => ({ path, ...read(join(root, path)) }));
const messages = [...new Set(sources.flatMap((source) => source.messages.map(({ text }) => text)))];
const areas = areasOf(root);
const wanted = catalogued(areas, sources, serverTexts(root));
const catalogs = languages.flatMap((language) =>
  [undefined, ...areas].map((area) => ({
    ...{ name: catalogOf(language, area), language, area },
    catalog: JSON.parse(readFileSync(join(root, catalogOf(language, area)), 'utf8')) as Record<string, string>,
  })),
);

/** Names of the arguments and tags in a message, each once. */
function partsOf(message: string): string[] {
  const names = new Set<string>();
  const visit = (parts: ReturnType<IntlMessageFormat['getAst']>) => {
    for (const part of parts) {
      if (part.type !== 0 && 'value' in part) names.add(part.value);
      if ('options' in part) for (const { value } of Object.values(part.options)) visit(value);
      if ('children' in part) visit(part.children);
    }
  };
  visit(new IntlMessageFormat(message, 'en').getAst());
  return [...names].sort();
}

/** Tags of a message, as rich.tsx finds them. */
const tagsOf = (message: string) => [...message.matchAll(/<(\w+)>.*?<\/\1>/g)].map(([, tag]) => tag).sort();

describe('texts of the console', () => {
  it.each(sources.filter(({ path }) => !isSnippet(path)))('in $path are marked with t() or rich()', (source) => {
    expect(source.faults).toEqual([]);
    expect(source.unmarked.filter(({ text }) => !same.has(text))).toEqual([]);
  });

  it('are passed values if and only if they have arguments', () => {
    const all = sources.flatMap(({ path, messages: own }) => own.map((message) => ({ path, ...message })));
    const hasArguments = ({ text }: { text: string }) => /[{}]/.test(text);
    expect(all.filter((message) => hasArguments(message) !== message.hasValues)).toEqual([]);
  });
});

describe.each(catalogs)('the catalog $name', ({ language, area, catalog }) => {
  it('has each message of its part of the console, the main one also the texts of the server, and no other: run `npm run gen`', () => {
    expect(Object.keys(catalog)).toEqual(wanted.get(area));
  });

  it('translates each message', () => {
    expect(Object.keys(catalog).filter((message) => !catalog[message]?.trim())).toEqual([]);
  });

  it('has valid ICU messages, with the arguments and tags of the English ones', () => {
    for (const [message, translation] of Object.entries(catalog)) {
      expect(partsOf(translation), translation).toEqual(partsOf(message));
      expect(tagsOf(translation), translation).toEqual(tagsOf(message));
    }
  });

  it('has each plural form of the language', () => {
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories.filter((form) => form !== 'many');
    for (const translation of Object.values(catalog)) {
      for (const { type, options } of plurals(translation)) {
        expect(type, translation).toBe(6);
        expect(Object.keys(options), translation).toEqual(expect.arrayContaining(forms));
      }
    }
  });
});

function plurals(message: string) {
  const ast = new IntlMessageFormat(message, 'en', undefined, { ignoreTag: true }).getAst();
  return ast.flatMap((part) => ('options' in part ? [{ type: part.type, options: part.options }] : []));
}

describe('English messages', () => {
  const filled = messages.filter((message) => message.includes('{'));

  it('format without the library, with the same result', () => {
    expect(filled.length).toBeGreaterThan(20);
    for (const message of filled) {
      for (const count of [0, 1, 2, 1234]) {
        const values = Object.fromEntries(partsOf(message).map((name) => [name, count]));
        const library = new IntlMessageFormat(message, 'en-GB', undefined, { ignoreTag: true });
        expect(formatEnglish(message, values)).toBe(String(library.format(values)));
      }
    }
  });

  it('keep the values unchanged', () => {
    expect(formatEnglish('Remove {name}', { name: '{size, number} <b>$&</b>' })).toBe(
      'Remove {size, number} <b>$&</b>',
    );
  });
});

describe('the gate', () => {
  const unmarked = (source: string) => read('planted.tsx', source).unmarked.map(({ text }) => text);

  it.each([
    ['text of an element', '<p>Saved</p>', 'Saved'],
    ['a property', '<Field label="name" />', 'name'],
    ['a property with a choice', "<Field title={isNew ? 'new' : t('Old')} />", 'new'],
    ['a template', 'const x = `Delete ${name} now`;', 'Delete {} now'],
    ['a label of a list', "const tabs = [{ label: 'Users' }];", 'Users'],
    ['a value of a message', "t('Hello {name}', { name: 'Dear sir' })", 'Dear sir'],
  ])('finds %s', (_, source, text) => {
    expect(unmarked(source)).toEqual([text]);
  });

  it('accepts marked texts, and texts that are not shown', () => {
    expect(unmarked("<p className=\"Big red\" key={`Row ${id}`}>{t('Saved')} – {x === 'Two words' && 1}</p>")).toEqual(
      [],
    );
  });

  it.each(["[t('Saved')].join()", "x === t('Saved')", "<p key={t('Saved')} />", "t('Saved').length"])(
    'finds the message of %s',
    (source) => {
      expect(read('planted.tsx', source).messages.map(({ text }) => text)).toEqual(['Saved']);
    },
  );

  it('finds a text in a joined list', () => {
    expect(unmarked("const x = ['Saved', y].filter(Boolean).join(' ');")).toEqual(['Saved']);
  });

  it('refuses a message that is not in the source', () => {
    expect(read('planted.ts', 't(message)').faults).toHaveLength(1);
  });
});

it('has no other catalogs', () => {
  const names = readdirSync(join(root, 'console/admin/language/messages'), { recursive: true }).sort();
  const files = languages.map((language) => `${language}.json`);
  expect(names).toEqual(
    [...files, ...areas.flatMap((area) => [area, ...files.map((file) => `${area}/${file}`)])].sort(),
  );
});

describe('an area with texts of its own', () => {
  /** Imports of a source, without those of types and within `withTexts()` of the area. */
  const imports = (path: string, area: string, source = readFileSync(join(root, path), 'utf8')) => {
    const loading = new RegExp(
      `withTexts\\(\\s*${area}Texts,\\s*(?:async )?\\(\\) =>\\s*import\\('[^']+'\\),?\\s*\\)`,
      'g',
    );
    const rest = source.replace(loading, '').replace(/^import type .*$/gm, '');
    return [...rest.matchAll(/(?:\bfrom|\bimport)[ (]+'(\.[^']+)'/g)]
      .map(([, to]) => join(path, '..', to as string))
      .filter((to) => areaOf(to, [area]) && !to.endsWith('/texts.ts'));
  };

  it.each(areas)('%s is loaded by withTexts() alone', (area) => {
    for (const { path } of sources.filter((source) => areaOf(source.path, areas) !== area)) {
      expect(imports(path, area), path).toEqual([]);
    }
  });

  it.each(areas)('%s names its own catalogs', (area) => {
    const source = readFileSync(join(root, 'console/admin', area, 'texts.ts'), 'utf8');
    expect(source).toContain(`export const ${area}Texts: AreaTexts`);
    const calls = source.replaceAll(/\(\s+/g, '(');
    expect(calls).toContain(`import.meta.glob<Record<string, string>>('../language/messages/${area}/*.json'`);
  });

  it.each([
    ["import { A } from '../roles/a.tsx';", ['console/admin/roles/a.tsx']],
    ["const A = () => import('../roles/a.tsx');", ['console/admin/roles/a.tsx']],
    ["withTexts(otherTexts, () => import('../roles/a.tsx'))", ['console/admin/roles/a.tsx']],
    ["withTexts(rolesTexts, () => import('../roles/a.tsx'))", []],
    ["import { rolesTexts } from '../roles/texts.ts';\nimport type { A } from '../roles/a.tsx';", []],
    ["import { A } from '../users/a.tsx';", []],
  ])('is found in %s', (source, found) => {
    expect(imports('console/admin/clients/page.tsx', 'roles', source)).toEqual(found);
  });

  it('shares the texts that other parts use', () => {
    const message = (text: string) => ({ text });
    const found = catalogued(
      ['roles'],
      [
        { path: 'console/admin/roles/a.tsx', messages: ['Own', 'Shared', 'Of the server'].map(message) },
        { path: 'console/admin/users/b.tsx', messages: [message('Shared')] },
      ],
      ['Of the server'],
    );
    expect([...found]).toEqual([
      [undefined, ['Of the server', 'Shared']],
      ['roles', ['Own']],
    ]);
  });
});
