import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { Api } from './api.entity.ts';
import { ApiGrant } from './api-grant.entity.ts';

const nouns = {
  api: { table: 'apis' },
} as const;

const events = {
  'api.created': ['applications', '{actor} created the API {subject}'],
  'api.deleted': ['applications', '{actor} deleted the API {subject}'],
  'api.granted': ['applications', '{actor} let {subject} call the API {api}'],
  'api.revoked': ['applications', '{actor} removed the API {api} from {subject}'],
  'api.updated': ['applications', '{actor} changed the API {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    apis: typeof nouns;
  }
  interface Events {
    apis: typeof events;
  }
}

export const apisNouns = {
  nouns,
  events,
  entities: [Api, ApiGrant],
  transfer: [
    { type: 'api', table: 'apis', parent: childOf('project'), key: ['id'] },
    { type: 'api-grant', table: 'api_grants', parent: childOf('api'), key: ['client_id', 'api_id'] },
  ],
} satisfies Declaration;
