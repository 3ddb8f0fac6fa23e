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

const events = {
  'device.proof_rejected': ['sign-in', 'A device proof was rejected'],
  'device.registered': ['sign-in', 'The device {subject} of {person} was registered'],
  'device.renamed': ['sign-in', '{actor} renamed the device {subject} of {person}'],
  'device.revoked': ['sign-in', '{actor} revoked the device {subject} of {person}'],
  'passkey.registered': ['sign-in', 'The passkey {subject} of {person} was added'],
  'passkey.rejected': ['sign-in', 'A passkey of {subject} was rejected'],
  'passkey.renamed': ['sign-in', '{actor} renamed the passkey {subject} of {person}'],
  'passkey.revoked': ['sign-in', '{actor} revoked the passkey {subject} of {person}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    credentials: typeof nouns;
  }
  interface Events {
    credentials: typeof events;
  }
}

export const credentialsNouns = {
  nouns,
  events,
  entities: [Credential, Device, Passkey],
  transfer: [
    { type: 'device', table: 'credentials', parent: childOf('user'), key: ['id'], where: 't.revoked_at is null' },
  ],
  userTables: [deviceTables],
} satisfies Declaration<UserTables>;
