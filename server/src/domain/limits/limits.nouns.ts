import type { Declaration } from '../kernel/nouns/declaration.ts';
import { Budget } from './budget.entity.ts';

export const limitsNouns = {
  entities: [Budget],
} satisfies Declaration;
