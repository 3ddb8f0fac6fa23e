import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Erasure } from './erasure.entity.ts';
import { RequestRecord } from './request-record.entity.ts';
import { ScimDay } from './scim-day.entity.ts';
import { ScimToken } from './scim-token.entity.ts';
import { directoryTables } from './user-tables.ts';

const nouns = {
  'scim-token': { table: 'scim_tokens', organization: 'organization_id' },
} as const;

const events = {
  'directory.tested': ['directory', '{actor} ran the self-test of the directory'],
  'scim-token.expiring': ['directory', 'The directory token {subject} expires soon'],
  'scim-token.issued': ['directory', '{actor} issued the directory token {subject}'],
  'scim-token.network_refused': ['directory', 'The directory token {subject} was refused from another network'],
  'scim-token.revoked': ['directory', '{actor} revoked the directory token {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    directories: typeof nouns;
  }
  interface Events {
    directories: typeof events;
  }
}

export const directoriesNouns = {
  nouns,
  events,
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
