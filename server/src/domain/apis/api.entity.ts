import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

/** A scope of tokens for an API (RFC 6749 section 3.3). */
export interface ApiScope {
  /** The value in `scope`. */
  key: string;
  /** One line, for admins and users. */
  description: string;
}

const schema = defineEntity({
  name: 'Api',
  tableName: 'apis',
  properties: {
    project: tenant,
    id: key(),
    /** An absolute URI without a fragment (RFC 8707 section 2): `resource`, and `aud` of its tokens. */
    identifier: p.text(),
    name: p.text(),
    scopes: p.json<ApiScope[]>(),
    /** 60 to 3600 seconds. */
    accessTokenTtlSeconds: p.integer(),
    /** Whether third-party applications get tokens for all its scopes, by the consent of each user. */
    thirdPartyAccess: p.boolean().default(false),
    /** Whether applications with the grant get its tokens for tokens of other APIs (RFC 8693). */
    tokenExchange: p.boolean().default(false),
    /** Whether users can make API keys for it (decisions/0423). */
    userKeys: p.boolean().default(false),
    version: p.integer().default(1),
    createdAt: instant(),
    updatedAt: instant(),
  },
  uniques: [{ name: 'apis_project_id_identifier_unique', properties: ['project', 'identifier'] }],
});

/** An API of a project: a resource server, for which the project’s issuer issues access tokens. */
export class Api extends schema.class {}
schema.setClass(Api);
