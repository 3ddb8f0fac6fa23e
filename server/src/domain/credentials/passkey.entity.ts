import { defineEntity, p } from '@mikro-orm/core';
import { Credential } from './credential.entity.ts';

const schema = defineEntity({
  name: 'Passkey',
  extends: Credential,
  discriminatorValue: 'passkey',
  properties: {
    /** Base64url; chosen by the authenticator. */
    credentialId: p.text().index(),
    /** COSE_Key (RFC 9052 section 7), base64url. */
    publicKey: p.text(),
    /** COSE algorithm of the stored key. */
    coseAlg: p.integer(),
    /** Model of the authenticator; all zeros: not given. */
    aaguid: p.text(),
    /** SHA-256 of the certificate that proved the model, in base64url; null: not proved. */
    attestedRoot: p.text().nullable(),
    transports: p.array().columnType('text[]'),
    signCount: p.bigint('number'),
    /** Whether it can be copied to the user's other devices; fixed at registration. */
    backupEligible: p.boolean(),
    /** Whether it is copied now. */
    backedUp: p.boolean(),
    /** Whether a use has verified the user, by PIN or biometrics. */
    userVerified: p.boolean(),
  },
  uniques: [{ name: 'credentials_project_id_credential_id_unique', properties: ['project', 'credentialId'] }],
});

/** A WebAuthn credential of a user, for every application of the project. */
export class Passkey extends schema.class {}
schema.setClass(Passkey);
