import type { Product } from '../../products/product.ts';
import { type Answers, secretDefaults } from '../clients/create/answers.ts';
import { addressesOf } from './addresses.ts';

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
