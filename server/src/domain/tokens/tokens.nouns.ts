import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { AuthorizationCode } from './authorization-code.entity.ts';
import { DeviceAuthorization } from './device/device-authorization.entity.ts';
import { UserKey } from './keys/user-key.entity.ts';
import { keyTables } from './keys/user-tables.ts';
import { RefreshGrant } from './refresh-grant.entity.ts';
import { tokenTables } from './user-tables.ts';

const nouns = {
  'refresh-grant': { table: 'refresh_grants' },
  'user-key': { table: 'user_keys' },
} as const;

const events = {
  'assertion.accepted': ['sign-in', '{actor} got a token of {subject} for an identity assertion'],
  'assertion.issued': ['sign-in', '{actor} got an identity assertion of {subject}'],
  'code.replayed': ['sign-in', 'An authorization code was used twice; its access token is revoked'],
  'device-authorization.approved': ['sign-in', '{subject} allowed a device sign-in'],
  'device-authorization.code-refused': ['sign-in', 'A wrong device code was entered'],
  'device-authorization.denied': ['sign-in', '{subject} denied a device sign-in'],
  'refresh-grant.revoked': ['sign-in', '{actor} ended a refresh grant of {subject}'],
  'refresh-grants.revoked': ['applications', '{actor} ended all refresh grants of {subject}'],
  'refresh-token.replayed': [
    'sign-in',
    'A refresh token of {subject} was used again after its replacement; its access is revoked',
  ],
  'token.exchanged': ['sign-in', '{actor} exchanged a token of {subject}'],
  'token.issued': ['sign-in', 'Tokens were issued for {subject}'],
  'token.refreshed': ['sign-in', 'Tokens of {subject} were refreshed'],
  'token.refused': ['sign-in', 'An authorization code, refresh token or device code from {subject} was refused'],
  'token.revoked': ['sign-in', '{actor} revoked a token of {subject}'],
  'user-key.created': ['sign-in', '{actor} created the API key {subject}'],
  'user-key.revoked': ['sign-in', '{actor} removed the API key {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    tokens: typeof nouns;
  }
  interface Events {
    tokens: typeof events;
  }
}

export const tokensNouns = {
  nouns,
  events,
  entities: [AuthorizationCode, DeviceAuthorization, RefreshGrant, UserKey],
  userTables: [tokenTables, keyTables],
} satisfies Declaration<UserTables>;
