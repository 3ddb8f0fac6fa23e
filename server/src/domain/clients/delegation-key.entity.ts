import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { Client } from './client.entity.ts';

/** Owner of the keys: the client (service provider) or Latchkey (identity provider). */
export const delegationParties = ['sp', 'idp'] as const;
export type DelegationParty = (typeof delegationParties)[number];

const schema = defineEntity({
  name: 'DelegationKey',
  tableName: 'delegation_keys',
  properties: {
    project: impliedTenant,
    id: key(),
    client: () => sameProject(Client, 'client_id'),
    party: p.enum(delegationParties),
    /** RFC 7638 thumbprint of the Ed25519 key. */
    signingKid: p.text(),
    /** RFC 7638 thumbprint of the X25519 key: `enc_kid` of messages encrypted to it. */
    encryptionKid: p.text(),
    signingPublicPem: p.text(),
    encryptionPublicPem: p.text(),
    /** PKCS #8, sealed by the vault for this row; only for `idp`. */
    sealedSigningKey: p.blob().nullable(),
    sealedEncryptionKey: p.blob().nullable(),
    createdAt: instant(),
    /** Invalid from this instant; absent until replaced. */
    expiresAt: instant().nullable(),
  },
  uniques: [
    {
      name: 'delegation_keys_project_id_client_id_pair_unique',
      properties: ['client', 'party', 'encryptionKid'],
    },
  ],
});

/**
 * One party's keys of a client's delegation: Ed25519 for signing, X25519 for encryption. A request to an older pair of
 * ours is answered with that pair, so that rotation causes no downtime.
 */
export class DelegationKey extends schema.class {}
schema.setClass(DelegationKey);
