/** `server/docs/saml-products.md`: the values of each SAML product, and ours for its settings. */

import { samlProducts } from '../../console/products/saml.ts';
import { atAddress } from '../../console/products/saml-product.ts';

export const samlProductsPath = 'server/docs/saml-products.md';

const code = (text) => `\`${text}\``;
const issuer = 'https://id.example.com/p/acme';

export function samlProductsPage() {
  return `# SAML products

Values of products that sign in by SAML. Products change them: compare them with the linked documentation. The console fills in its form with
them: *Applications*, *Create application*, *SAML application*. Of these, \`npm run interop -- saml\` tries mod_auth_mellon and
SimpleSAMLphp; the others were not tested with this server. Import the metadata of a product where it has one: it also has its
certificates. The certificate of your project is on the page *Enterprise credentials*.

${samlProducts.map(sectionOf).join('\n\n')}
`;
}

function sectionOf(product) {
  const { address, acsUrls, attributes = [], entityId, logoutUri, metadata, name, nameId, sources } = product;
  const at = (text) => code(atAddress(text, address ?? ''));
  const own = 'shown in its settings';
  const rows = [
    ...(metadata ? [['Metadata', at(metadata)]] : []),
    ['Entity ID', entityId === null ? own : at(entityId)],
    ['ACS URL', acsUrls.length === 0 ? own : acsUrls.map(at).join(', ')],
    ...(logoutUri ? [['Single logout URL', at(logoutUri)]] : []),
    ['NameID', code(nameId)],
    ...attributes.map(([attribute, claim]) => [`Attribute ${code(attribute)}`, `claim ${code(claim)}`]),
  ];
  const values = { entityId: `${issuer}/saml/metadata`, ssoUrl: `${issuer}/saml/sso`, sloUrl: `${issuer}/saml/slo` };
  const fields = product.fields({ ...values, address: address ?? '' });
  return [
    `## ${name}`,
    tableOf(['application', 'value'], rows),
    tableOf(
      [`field in ${name}`, 'value'],
      fields.map(([label, value]) => [label, code(value)]),
    ),
    `Documentation: ${sources.map((source) => `[${new URL(source).host}](${source})`).join(', ')}.`,
  ].join('\n\n');
}

function tableOf(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
