import { defineEntity, p } from '@mikro-orm/core';
import type { JWK } from 'jose';
import { instant } from '../kernel/columns.ts';

/** Algorithms that always have a key: those of the base issuer. */
export const standingAlgorithms = ['ES512', 'EdDSA'] as const;
/** The others get their first key when a client needs one. */
export const signingAlgorithms = [...standingAlgorithms, 'ES256', 'RS256'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

const schema = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_keys',
  properties: {
    /** `kid`: the RFC 7638 thumbprint. */
    id: p.text().primary(),
    alg: p.enum(signingAlgorithms),
    publicJwk: p.json<JWK>(),
    /** PKCS #8, sealed by the vault for this row. */
    sealedPrivateKey: p.blob(),
    createdAt: instant(),
    /** Signs from this instant; published from `createdAt`. */
    signsFrom: instant(),
    /** Signs until this instant. */
    signsUntil: instant().nullable(),
    /** Published until this instant. */
    publishedUntil: instant().nullable(),
    /** Time of an emergency withdrawal: tokens that it signed are no longer accepted. */
    withdrawnAt: instant().nullable(),
  },
});

/** A key of the issuer. Published before it signs, and kept until its last token has expired. */
export class SigningKey extends schema.class {}
schema.setClass(SigningKey);
