import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Connection, connectionSecretPurpose } from './connection.entity.ts';
import { Identity } from './identity.entity.ts';
import { UpstreamAssertion } from './upstream-assertion.entity.ts';
import { UpstreamRequest } from './upstream-request.entity.ts';
import { identityTables } from './user-tables.ts';

const nouns = {
  connection: { table: 'connections', organization: 'organization_id' },
  identity: { table: 'identities' },
} as const;

const events = {
  'connection.certificate_expiring': ['administration', 'The last certificate of {subject} expires soon'],
  'connection.created': ['administration', '{actor} created the connection {subject}'],
  'connection.deleted': ['administration', '{actor} deleted the connection {subject}'],
  'connection.disabled': ['administration', '{actor} disabled the connection {subject}'],
  'connection.enabled': ['administration', '{actor} enabled the connection {subject}'],
  'connection.fallback_used': ['sign-in', '{subject} signed in by a mail code while a connection failed'],
  'connection.failed': ['sign-in', 'A sign-in by {subject} failed'],
  'connection.metadata_refreshed': [
    'administration',
    'The metadata of {subject} changed its certificates or addresses',
  ],
  'connection.metadata_refused': ['administration', 'The metadata of {subject} was not applied'],
  'connection.tested': ['administration', 'A test of the connection {subject} succeeded'],
  'connection.updated': ['administration', '{actor} changed the connection {subject}'],
  'identity.linked': ['sign-in', 'The {connection} account of {subject} was connected'],
  'identity.unlinked': ['sign-in', '{actor} disconnected the {connection} account of {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    connections: typeof nouns;
  }
  interface Events {
    connections: typeof events;
  }
}

export const connectionsNouns = {
  nouns,
  events,
  entities: [Connection, Identity, UpstreamAssertion, UpstreamRequest],
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
