import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { Client } from './client.entity.ts';

export const apiKeyKinds = ['publishable', 'secret'] as const;
export type ApiKeyKind = (typeof apiKeyKinds)[number];

const schema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    project: impliedTenant,
    id: key(),
    client: () => sameProject(Client, 'client_id'),
    kind: p.enum(apiKeyKinds),
    hash: p.text().index(),
    /** A publishable key itself, which is not secret. Null for a secret key, and for those from before release 1.0. */
    value: p.text().nullable(),
    /** The last four characters, for display. */
    hint: p.text(),
    createdAt: instant(),
    lastUsedAt: instant().nullable(),
    revokedAt: instant().nullable(),
  },
});

/** A client's key for the SDK (`lk_pk_…`) or the server library (`lk_sk_…`). A secret one is shown once and stored as a hash. */
export class ApiKey extends schema.class {}
schema.setClass(ApiKey);
