import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { Api } from './api.entity.ts';

const schema = defineEntity({
  name: 'ApiGrant',
  tableName: 'api_grants',
  properties: {
    project: impliedTenant,
    client: () => sameProject(Client, 'client_id').primary(),
    api: () => sameProject(Api, 'api_id').primary(),
    /** Scopes that its tokens may have; empty: it gets no tokens for the API. */
    scopes: p.array().columnType('text[]'),
    /** Whether the client is the API itself, and may introspect its tokens (RFC 7662). */
    introspects: p.boolean(),
    createdAt: instant(),
    updatedAt: instant(),
  },
  indexes: [{ name: 'api_grants_project_id_api_id_index', properties: ['api'] }],
});

/** The rights of a client at an API of its project. Without a row: none. */
export class ApiGrant extends schema.class {}
schema.setClass(ApiGrant);
