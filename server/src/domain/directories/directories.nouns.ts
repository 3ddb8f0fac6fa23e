import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Erasure } from './erasure.entity.ts';
import { RequestRecord } from './request-record.entity.ts';
import { ScimDay } from './scim-day.entity.ts';
import { ScimToken } from './scim-token.entity.ts';
import { directoryTables } from './user-tables.ts';

const nouns = {
  'scim-token': { table: 'scim_tokens' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    directories: typeof nouns;
  }
}

export const directoriesNouns = {
  nouns,
  entities: [ScimToken],
  transfer: [
    {
      type: 'scim-token',
      table: 'scim_tokens',
      parent: childOf('project'),
      key: ['id'],
      where: 't.revoked_at is null',
      withoutSecrets: 'false',
      secrets: [{ column: 'hash' }],
    },
  ],
} satisfies Declaration;

export const requestRecordNouns = {
  entities: [Erasure, RequestRecord, ScimDay],
  userTables: [directoryTables],
} satisfies Declaration<UserTables>;
