import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Credential } from './credential.entity.ts';
import { Device } from './device.entity.ts';
import { Passkey } from './passkey.entity.ts';
import { deviceTables } from './user-tables.ts';

const nouns = {
  device: { table: 'credentials' },
  passkey: { table: 'credentials' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    credentials: typeof nouns;
  }
}

export const credentialsNouns = {
  nouns,
  entities: [Credential, Device, Passkey],
  transfer: [
    { type: 'device', table: 'credentials', parent: childOf('user'), key: ['id'], where: 't.revoked_at is null' },
  ],
  userTables: [deviceTables],
} satisfies Declaration<UserTables>;
