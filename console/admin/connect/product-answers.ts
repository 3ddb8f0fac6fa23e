import { machine as machineSettings } from '../../products/machine.ts';
import type { Product } from '../../products/product.ts';
import { products } from '../../products/products.ts';
import { type Answers, secretDefaults } from '../clients/create/answers.ts';
import { t } from '../language/language.ts';
import { addressesOf } from './addresses.ts';

export const machine: Product = { ...machineSettings, name: t('Machine or script') };

/** Undefined: none has this id. */
export const productOf = (id: string): Product | undefined =>
  id === machine.id ? machine : products.find((product) => product.id === id);

/** The answers that a product fills in. */
export function answersOfProduct(product: Product, before: Answers): Partial<Answers> {
  const isOwnName = before.name.trim() !== '' && before.name !== before.product?.name;
  return {
    ...secretDefaults,
    product,
    kind: product.isNative ? 'native' : 'web-server',
    name: isOwnName ? before.name : product.name,
    method: product.isPublic ? 'NONE' : 'CLIENT_SECRET_BASIC',
    signature: product.algorithm,
    pkceOptional: !product.requiresPkce,
    refreshTokens: !product.withoutRefresh,
    ...addressesOf(product, ''),
  };
}
