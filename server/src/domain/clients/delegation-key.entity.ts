import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { Client } from './client.entity.ts';

/** Whose keys they are: the client's (service provider) or ours (identity provider). */
export const delegationParties = ['sp', 'idp'] as const;
export type DelegationParty = (typeof delegationParties)[number];

const schema = defineEntity({
  name: 'DelegationKey',
  tableName: 'delegation_keys',
  properties: {
    id: key(),
    client: () => p.manyToOne(Client).ref().deleteRule('cascade'),
    party: p.enum(delegationParties),
    /** RFC 7638 thumbprint of the Ed25519 key. */
    signingKid: p.text(),
    /** RFC 7638 thumbprint of the X25519 key: `enc_kid` of what is encrypted to it. */
    encryptionKid: p.text(),
    signingPublicPem: p.text(),
    encryptionPublicPem: p.text(),
    /** PKCS #8, sealed by the vault for this row alone; ours only. */
    sealedSigningKey: p.blob().nullable(),
    sealedEncryptionKey: p.blob().nullable(),
    createdAt: instant(),
    /** From here on they are good for nothing; absent while no others have taken their place. */
    expiresAt: instant().nullable(),
  },
  uniques: [
    {
      name: 'delegation_keys_client_id_party_encryption_kid_unique',
      properties: ['client', 'party', 'encryptionKid'],
    },
  ],
});

/**
 * What one side of a client's delegation signs and is encrypted to: an Ed25519 and an X25519 key that belong together.
 * A request to an older pair of ours is answered with that pair, so that keys rotate without a moment of silence.
 */
export class DelegationKey extends schema.class {}
schema.setClass(DelegationKey);
