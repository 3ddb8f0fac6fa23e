import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { ApiKey } from './api-key.entity.ts';
import { UsedAssertion } from './assertions/used-assertion.entity.ts';
import { Client } from './client.entity.ts';
import { ClientSecret } from './client-secret.entity.ts';
import { DelegationKey } from './delegation-key.entity.ts';
import { ClientIntroduction } from './introductions/client-introduction.entity.ts';
import { RegistrationToken } from './introductions/registration-token.entity.ts';

const nouns = {
  client: { table: 'clients', client: 'id' },
  'api-key': { table: 'api_keys', client: 'client_id' },
  'client-secret': { table: 'client_secrets', client: 'client_id' },
  'registration-token': { table: 'registration_tokens' },
  'delegation-key': { table: 'delegation_keys', client: 'client_id' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    clients: typeof nouns;
  }
}

export const clientsNouns = {
  nouns,
  entities: [Client, ApiKey, UsedAssertion, ClientSecret, DelegationKey, ClientIntroduction, RegistrationToken],
  transfer: [
    { type: 'client', table: 'clients', parent: childOf('project'), key: ['id'], omit: ['built_in'] },
    {
      type: 'client-introduction',
      table: 'client_introductions',
      parent: childOf('client'),
      key: ['client_id'],
      secrets: [{ column: 'management_hash' }],
    },
    {
      type: 'api-key',
      table: 'api_keys',
      parent: childOf('client'),
      key: ['id'],
      where: 't.revoked_at is null',
      withoutSecrets: 'false',
      secrets: [{ column: 'hash' }],
    },
    {
      type: 'client-secret',
      table: 'client_secrets',
      parent: childOf('client'),
      key: ['id'],
      where: 't.revoked_at is null',
      withoutSecrets: 'false',
      secrets: [{ column: 'hash' }],
    },
    {
      type: 'registration-token',
      table: 'registration_tokens',
      parent: childOf('project'),
      key: ['id'],
      where: 't.revoked_at is null',
      withoutSecrets: 'false',
      secrets: [{ column: 'hash' }],
    },
    {
      type: 'delegation-key',
      table: 'delegation_keys',
      parent: childOf('client'),
      key: ['id'],
      withoutSecrets: `t.party = 'sp'`,
      secrets: [
        { column: 'sealed_signing_key', purpose: 'delegation-signing-key' },
        { column: 'sealed_encryption_key', purpose: 'delegation-encryption-key' },
      ],
    },
  ],
} satisfies Declaration;
