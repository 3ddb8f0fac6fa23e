import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { Api } from './api.entity.ts';
import { ApiGrant } from './api-grant.entity.ts';

const nouns = {
  api: { table: 'apis' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    apis: typeof nouns;
  }
}

export const apisNouns = {
  nouns,
  entities: [Api, ApiGrant],
  transfer: [
    { type: 'api', table: 'apis', parent: childOf('project'), key: ['id'] },
    { type: 'api-grant', table: 'api_grants', parent: childOf('api'), key: ['client_id', 'api_id'] },
  ],
} satisfies Declaration;
