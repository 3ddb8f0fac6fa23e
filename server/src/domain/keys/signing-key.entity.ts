import { defineEntity, p } from '@mikro-orm/core';
import type { JWK } from 'jose';
import { instant } from '../kernel/columns.ts';

export const signingAlgorithms = ['ES512', 'EdDSA'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

const schema = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_keys',
  properties: {
    /** `kid`: the RFC 7638 thumbprint. */
    id: p.text().primary(),
    alg: p.enum(signingAlgorithms),
    publicJwk: p.json<JWK>(),
    /** PKCS #8, sealed by the vault for this row alone. */
    sealedPrivateKey: p.blob(),
    createdAt: instant(),
    /** From here on it may sign; published from `createdAt`. */
    signsFrom: instant(),
    /** From here on it no longer signs. */
    signsUntil: instant().nullable(),
    /** From here on it is no longer published. */
    publishedUntil: instant().nullable(),
    /** Withdrawn in an emergency: no token of it is accepted any more. */
    withdrawnAt: instant().nullable(),
  },
});

/** A key of the issuer. Published before it signs, and kept until its last token has expired. */
export class SigningKey extends schema.class {}
schema.setClass(SigningKey);
