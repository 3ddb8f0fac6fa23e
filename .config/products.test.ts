/** Each product of the wizard: its addresses, its settings, and its section in the documentation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addressOf, urisAt } from '../console/products/address.ts';
import type { Product, Values } from '../console/products/product.ts';
import { products } from '../console/products/products.ts';
import { samlProducts } from '../console/products/saml.ts';
import { atAddress } from '../console/products/saml-product.ts';
import { checkRedirectUri } from '../server/src/domain/clients/redirect-uri.ts';
import { idTokenAlgorithms } from '../server/src/domain/kernel/openid.ts';
import { exampleOf, productsPage, productsPath } from './lib/products.mjs';
import { samlProductsPage, samlProductsPath } from './lib/saml-products.mjs';
import { root } from './lib/workspace.mjs';

const page = readFileSync(join(root, productsPath), 'utf8');
const textOf = ({ settings }: Product, values: Values) =>
  settings
    .map((setting) => ('code' in setting ? setting.code(values) : setting.fields(values).flat().join('\n')))
    .join('\n');

it('products.md has the settings of all products: run `npm run gen` after a change', () => {
  expect(productsPage()).toBe(page);
});

it('there are 40 products or more, each with an id of its own', () => {
  expect(new Set(products.map(({ id }) => id)).size).toBe(products.length);
  expect(products.length).toBeGreaterThanOrEqual(40);
});

describe.each(products.map((product) => [product.name, product] as const))('%s', (name, product) => {
  const uris = [...product.redirectUris, ...(product.postLogoutRedirectUris ?? [])];

  it('has addresses that can be registered, for hosts, ports and paths', () => {
    for (const address of [product.address ?? '', 'https://a.example.com:8443', 'https://example.com/sub/path']) {
      for (const uri of urisAt(addressOf(address), uris)) expect(checkRedirectUri(uri), uri).toBeNull();
    }
    expect(product.redirectUris.length).toBeGreaterThan(0);
  });

  it('has settings without an open placeholder, with each value of an application that it needs', () => {
    const values = {
      ...{ issuer: 'https://issuer.test/p/x', clientId: 'THE-CLIENT', clientSecret: 'THE-SECRET' },
      ...{ address: 'https://product.test', encoded: encodeURIComponent },
    };
    const text = textOf(product, values);
    expect(text).not.toMatch(/undefined|\[object|example\.(?:com|org)\/p\/|<[a-z ]+>|…/);
    expect(text).toContain(values.issuer);
    expect(text).toContain(values.clientId);
    // A public client has no secret.
    expect(text.includes(values.clientSecret)).toBe(!product.isPublic);
    // The values of another application differ in all these places.
    const other = textOf(product, exampleOf(product));
    expect(other).not.toMatch(/issuer\.test|THE-|product\.test/);
  });

  it('names its documentation, and settings that the server has', () => {
    for (const source of product.sources) expect(new URL(source).protocol).toBe('https:');
    expect(product.sources.length).toBeGreaterThan(0);
    expect(idTokenAlgorithms).toContain(product.algorithm);
    const scopes = ['openid', 'profile', 'email', 'groups', 'roles', 'offline_access'];
    for (const scope of product.scope.split(' ')) expect(scopes).toContain(scope);
    // `offline_access` gives a refresh token, which `withoutRefresh` would refuse.
    expect(product.scope.includes('offline_access') && product.withoutRefresh).not.toBe(true);
  });

  it('has a section in products.md under its id', () => {
    const anchor = name
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-');
    expect(product.id).toBe(anchor);
    expect(page).toContain(`\n## ${name}\n`);
    expect(page).toContain(`<!-- settings: ${product.id} -->`);
  });
});

it('an address may be entered without a scheme, and with a trailing slash', () => {
  expect(addressOf(' grafana.example.com:3000/ ')).toBe('https://grafana.example.com:3000');
  expect(addressOf('http://localhost:3000')).toBe('http://localhost:3000');
  expect(addressOf('')).toBe('');
});

it('saml-products.md has the values of all SAML products: run `npm run gen` after a change', () => {
  expect(samlProductsPage()).toBe(readFileSync(join(root, samlProductsPath), 'utf8'));
});

describe.each(samlProducts.map((product) => [product.name, product] as const))('%s by SAML', (_name, product) => {
  it('has an entity ID and addresses that can be registered', () => {
    const { acsUrls, entityId, logoutUri, metadata, sources } = product;
    const at = (text: string) => atAddress(text, 'https://a.example.com:8443');
    if (entityId !== null) expect(at(entityId)).toMatch(/^[\x21-\x7e]{1,1024}$/);
    expect(acsUrls.length > 0).toBe(entityId !== null);
    for (const uri of [...acsUrls, logoutUri ?? [], metadata ?? []].flat())
      expect(checkRedirectUri(at(uri)), uri).toBeNull();
    for (const source of sources) expect(new URL(source).protocol).toBe('https:');
    // Without an address of its own, nothing depends on it.
    if (product.address === null)
      expect(JSON.stringify([entityId, acsUrls, metadata])).not.toMatch(/\{(address|host)\}/);
  });

  it('has settings with our values', () => {
    const own = {
      entityId: 'https://i.test/saml/metadata',
      ssoUrl: 'https://i.test/saml/sso',
      sloUrl: 'https://i.test/saml/slo',
    };
    const text = product
      .fields({ ...own, address: 'https://product.test' })
      .flat()
      .join('\n');
    expect(text).toContain('https://i.test/saml/');
    expect(text).not.toMatch(/undefined|example\.com|\{/);
  });
});

it('there are 15 SAML products, in the order of their names, each with an id of its own', () => {
  const names = samlProducts.map(({ name }) => name);
  expect(names).toEqual([...names].sort((one, other) => one.localeCompare(other, 'en')));
  expect(new Set([...samlProducts, ...products].map(({ id }) => id)).size).toBe(samlProducts.length + products.length);
  expect(samlProducts.length).toBe(15);
});
