import type { Declaration } from '../kernel/nouns/declaration.ts';
import { UsedRequest } from './used-request.entity.ts';

export const delegationNouns = {
  entities: [UsedRequest],
} satisfies Declaration;
