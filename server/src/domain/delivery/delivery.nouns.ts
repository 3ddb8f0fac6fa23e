import type { Declaration } from '../kernel/nouns/declaration.ts';
import { Message } from './message.entity.ts';

const nouns = {
  message: {},
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    delivery: typeof nouns;
  }
}

export const deliveryNouns = {
  nouns,
  entities: [Message],
} satisfies Declaration;
