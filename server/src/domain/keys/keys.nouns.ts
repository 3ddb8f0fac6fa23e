import type { Declaration } from '../kernel/nouns/declaration.ts';
import { RetiredMacKey } from './retired-mac-key.entity.ts';
import { SigningKey } from './signing-key.entity.ts';

const nouns = {
  'signing-key': {},
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    keys: typeof nouns;
  }
}

export const keysNouns = {
  nouns,
  entities: [SigningKey, RetiredMacKey],
} satisfies Declaration;
