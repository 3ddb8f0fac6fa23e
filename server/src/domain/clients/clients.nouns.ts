import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { ApiKey } from './api-key.entity.ts';
import { UsedAssertion } from './assertions/used-assertion.entity.ts';
import { Client } from './client.entity.ts';
import { clientFields } from './client.resource.ts';
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

const events = {
  'api-key.issued': ['applications', '{actor} created the API key {subject} of {client}'],
  'api-key.revoked': ['applications', '{actor} revoked the API key {subject} of {client}'],
  'client-secret.issued': ['applications', '{actor} created the client secret {subject} of {client}'],
  'client-secret.revoked': ['applications', '{actor} revoked the client secret {subject} of {client}'],
  'client.certificate_expiring': ['applications', 'The last certificate of {subject} expires soon'],
  'client.claims_updated': ['applications', '{actor} changed the claims of {subject}'],
  'client.created': ['applications', '{actor} created the application {subject}'],
  'client.deleted': ['applications', '{actor} deleted the application {subject}'],
  'client.introduced': ['applications', '{subject} introduced itself'],
  'client.introduction_refused': ['applications', 'The introduction of an application was refused'],
  'client.metadata_refused': ['applications', 'The metadata of {subject} was not applied'],
  'client.rejected': ['applications', 'Client authentication of {subject} failed'],
  'client.trial_begun': ['applications', '{actor} started a test sign-in to {subject}'],
  'client.tried': ['applications', '{actor} tested the sign-in of {subject}'],
  'client.updated': ['applications', '{actor} changed the application {subject}'],
  'delegation-key.generated': ['applications', '{actor} generated delegation keys for {subject}'],
  'delegation-key.registered': ['applications', '{actor} registered delegation keys of {subject}'],
  'delegation-key.revoked': ['applications', '{actor} revoked delegation keys of {subject}'],
  'registration-token.issued': ['applications', '{actor} issued the registration token {subject}'],
  'registration-token.revoked': ['applications', '{actor} revoked the registration token {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    clients: typeof nouns;
  }
  interface Events {
    clients: typeof events;
  }
}

export const clientsNouns = {
  nouns,
  events,
  resources: { Client: clientFields },
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
