import { development } from './development.ts';
import { home } from './home.ts';
import { infrastructure } from './infrastructure.ts';
import { office } from './office.ts';
import type { Product } from './product.ts';
import { servers } from './servers.ts';

export const products: readonly Product[] = [...development, ...office, ...home, ...infrastructure, ...servers].sort(
  (one, other) => one.name.localeCompare(other.name, 'en'),
);
