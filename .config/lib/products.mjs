/** The generated parts of `server/docs/products.md`: the table, and the settings of each product. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { urisAt } from '../../console/products/address.ts';
import { products } from '../../console/products/products.ts';
import { root } from './workspace.mjs';

export const productsPath = 'server/docs/products.md';

/** The page with its generated parts written again. Each is between a comment that names it and `<!-- end -->`. */
export function productsPage(text = readFileSync(join(root, productsPath), 'utf8')) {
  const parts = new Map([['table', table()], ...products.map((product) => [product.id, settingsOf(product)])]);
  return text.replace(/(<!-- settings: ([\w-]+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, begin, id, end) => {
    const part = parts.get(id);
    if (part === undefined) throw new Error(`${productsPath}: no product is named ${id}`);
    return `${begin}\n${part}\n\n${end}`;
  });
}

const code = (text) => `\`${text}\``;

function table() {
  const rows = products.map(({ id, name, redirectUris, scope, groups = 'none', pkce }) => {
    const uris = redirectUris.map((uri) => (uri === '' ? 'its address' : code(uri))).join(', ');
    return `| [${name}](#${id.toLowerCase()}) | ${uris} | ${code(scope)} | ${groups} | ${pkce} |`;
  });
  const head = ['| product | redirect URI | scopes | groups and roles | PKCE |', '|---|---|---|---|---|'];
  return [...head, ...rows].join('\n');
}

/** With values in place of those of an application. */
export function exampleOf({ address }) {
  return {
    issuer: 'https://id.example.com/p/acme',
    clientId: '…',
    clientSecret: '…',
    address: address ?? '',
    encoded: encodeURIComponent,
  };
}

function settingsOf(product) {
  const { address, redirectUris, postLogoutRedirectUris, settings, sources, isPublic, isNative, requiresPkce } =
    product;
  const values = exampleOf(product);
  const list = (paths) =>
    urisAt(address ?? '', paths)
      .map(code)
      .join(', ');
  const application = [
    `*${isNative ? 'Native or command line' : 'Web server'}*${isPublic && !isNative ? ' with *PKCE*' : ''}`,
    `redirect URI ${list(redirectUris)}`,
    ...(postLogoutRedirectUris ? [`post-logout redirect URI ${list(postLogoutRedirectUris)}`] : []),
    ...(requiresPkce ? ['*Allow sign-in without PKCE* off'] : []),
  ];
  const links = sources.map((source) => `[${new URL(source).host}](${source})`).join(', ');
  return [
    `Application: ${application.join(', ')}.`,
    ...settings.map((setting) => `${titleOf(setting)}:\n\n${partOf(setting, values)}`),
    `Documentation: ${links}.`,
  ].join('\n\n');
}

const titleOf = ({ name, fields }) => (fields ? `*${name}*` : /[.-]/.test(name) ? code(name) : name);

function partOf(setting, values) {
  if (setting.code) return `\`\`\`${setting.language}\n${setting.code(values)}\n\`\`\``;
  const rows = setting.fields(values).map(([label, value]) => `| ${label} | ${code(value)} |`);
  return ['| field | value |', '|---|---|', ...rows].join('\n');
}
