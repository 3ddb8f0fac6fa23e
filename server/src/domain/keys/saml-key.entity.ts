import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'SamlKey',
  tableName: 'saml_keys',
  properties: {
    project: tenant,
    id: key(),
    /** DER. */
    certificate: p.blob(),
    /** PKCS #8, sealed by the vault for this row. */
    sealedPrivateKey: p.blob(),
    createdAt: instant(),
    /** In the metadata from `createdAt`. */
    signsFrom: instant(),
    /** In the metadata until then; null: it has no successor. */
    publishedUntil: instant().nullable(),
  },
});

/** A key that a project signs SAML messages with: RSA with 2048 bits, in a certificate of its own. */
export class SamlKey extends schema.class {}
schema.setClass(SamlKey);
