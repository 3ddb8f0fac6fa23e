import { defineEntity, p } from '@mikro-orm/core';
import type { JWK } from 'jose';
import { instant, key } from '../kernel/columns.ts';
import { columnsOf } from '../kernel/resource.ts';
import { tenant } from '../projects/tenant.ts';
import { clientFields } from './client.resource.ts';
import { metadataFaults } from './saml/saml.resource.ts';

export const clientIntroductions = ['document', 'registration'] as const;

const schema = defineEntity({
  name: 'Client',
  tableName: 'clients',
  properties: {
    project: tenant,
    /** `client_id`: globally unique, and the ID token's `aud`. */
    id: key(),
    ...columnsOf(clientFields),
    builtIn: p.text().$type<'console' | 'demo'>().nullable(),
    /** One Ed25519 public key, for `private_key_jwt`; the only form that the base issuer's contract allows. */
    jwk: p.json<JWK>().nullable(),
    /** Several public keys, or one of another kind. */
    jwkSet: p.json<JWK[]>().nullable(),
    /** Null: created by an admin. See `introductions/`. */
    introducedBy: p.text().$type<(typeof clientIntroductions)[number]>().nullable(),
    /** The URL of its Client ID Metadata Document, which is its `client_id`. */
    metadataUrl: p.text().nullable(),
    /** Part of the pairwise NameIDs of a SAML application, so that no other application can compute them; null: none yet. */
    samlSalt: p.text().nullable(),
    /** Null: not read yet. */
    samlMetadataCheckedAt: instant().nullable(),
    samlMetadataFault: p.enum(metadataFaults).nullable(),
    /** The end of the last of its `samlCertificates`. */
    samlCertificateExpiresAt: instant().nullable(),
    /** Days of the last warning about that. */
    samlWarnedDays: p.integer().nullable(),
    disabledAt: instant().nullable(),
    version: p.integer().default(1),
    createdAt: instant(),
    updatedAt: instant(),
  },
  indexes: [
    {
      name: 'clients_project_id_metadata_url_unique',
      expression:
        'create unique index "clients_project_id_metadata_url_unique" on "clients" ("project_id", "metadata_url") where ("metadata_url" is not null)',
    },
  ],
  uniques: [
    { name: 'clients_project_id_built_in_unique', properties: ['project', 'builtIn'] },
    { name: 'clients_project_id_saml_entity_id_unique', properties: ['project', 'samlEntityId'] },
  ],
});

/** An OIDC relying party of one project. */
export class Client extends schema.class {}
schema.setClass(Client);
