import type { ReactNode } from 'react';
import type { Product } from '../../products/product.ts';
import { products } from '../../products/products.ts';
import type { Client } from '../clients/client-part.ts';
import { ProductSettings } from './product-settings.tsx';

interface ProductQuickstartProps {
  client: Client;
  /** For an application that is no product. */
  children: ReactNode;
}

/** The settings of the product that the application has the name and a redirect URI of. */
export function ProductQuickstart({ client, children }: ProductQuickstartProps) {
  const found = productOf(client);
  if (!found) return children;
  // Its roles are on their own tab.
  const { roles: _, ...product } = found.product;
  return <ProductSettings product={product} client={client} clientSecret="…" address={found.address} />;
}

function productOf({ name, redirectUris }: Client): { product: Product; address: string } | undefined {
  for (const product of products) {
    if (!name.toLowerCase().includes(product.name.toLowerCase())) continue;
    for (const path of product.redirectUris) {
      const uri = redirectUris.find((one) => one.endsWith(path));
      if (uri !== undefined) return { product, address: uri.slice(0, uri.length - path.length) };
    }
  }
  return undefined;
}
