import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Connection, connectionSecretPurpose } from './connection.entity.ts';
import { Identity } from './identity.entity.ts';
import { UpstreamRequest } from './upstream-request.entity.ts';
import { identityTables } from './user-tables.ts';

const nouns = {
  connection: { table: 'connections' },
  identity: { table: 'identities' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    connections: typeof nouns;
  }
}

export const connectionsNouns = {
  nouns,
  entities: [Connection, Identity, UpstreamRequest],
  transfer: [
    {
      type: 'connection',
      table: 'connections',
      parent: childOf('project'),
      key: ['id'],
      secrets: [{ column: 'sealed_secret', purpose: connectionSecretPurpose }],
    },
    { type: 'identity', table: 'identities', parent: childOf('user'), key: ['id'] },
  ],
  userTables: [identityTables],
} satisfies Declaration<UserTables>;
