import { addressOf, urisAt } from '../../products/address.ts';
import type { Product } from '../../products/product.ts';
import type { Answers } from '../clients/create/answers.ts';

/** The addresses that follow from that of the product. */
export function addressesOf(product: Product, entered: string): Partial<Answers> {
  const address = addressOf(entered);
  const at = (paths: readonly string[] = []) =>
    product.address !== null && address === '' ? [] : urisAt(address, paths);
  return {
    address: entered,
    redirectUris: at(product.redirectUris),
    postLogoutRedirectUris: at(product.postLogoutRedirectUris),
  };
}
