import { stepUps } from '@latchkey/contracts';
import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { Device } from '../credentials/device.entity.ts';
import { instant, key } from '../kernel/columns.ts';
import { mfaMethods } from '../mfa/enrolment.entity.ts';
import type { Evidence } from '../policy/evidence.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';
import { AuthorizationRequest } from './requests/authorization-request.entity.ts';

/** States of a sign-in; `steps.ts` lists the steps that each state allows. */
export const ceremonyStates = [
  'challenged',
  'otp_sent',
  'otp_verified',
  'registered',
  'mfa_owed',
  'mfa_initiated',
  'passkey_owed',
  'stepped_up',
  'phone_code_sent',
  'finished',
] as const;
export type CeremonyState = (typeof ceremonyStates)[number];

/** Lifetime of a sign-in. */
export const txnTtlSeconds = 10 * 60;
/** Lifetime of a nonce. */
export const nonceTtlSeconds = 120;

/** The purpose of a WebAuthn challenge. `conditional-registration`: without a dialog, and without presence of the user. */
export type PasskeyPurpose = 'sign-in' | 'registration' | 'conditional-registration';

const schema = defineEntity({
  name: 'Ceremony',
  tableName: 'ceremonies',
  properties: {
    project: impliedTenant,
    id: key(),
    client: () => sameProject(Client, 'client_id'),
    /** The hosted page's request; null for the SDK. */
    request: () => sameProject(AuthorizationRequest, 'request_id').nullable(),
    /** SHA-256 of `txn`. */
    txnHash: p.text().index(),
    /** SHA-256 of the nonce for the next proof. */
    nonceHash: p.text(),
    nonceExpiresAt: instant(),
    state: p.enum(ceremonyStates),
    /** The page's origin at `challenge`. */
    origin: p.text(),
    /** RFC 7638 thumbprint of the page's device key; null: no device can be registered. */
    jkt: p.text().nullable(),
    codeChallenge: p.text().nullable(),
    /** The normalized address; set by `authenticate`, until the sign-in succeeds. */
    address: p.text().nullable(),
    /** Unused, like the next two; commit 5ffac69 selects them. The release after 1.0 drops them. */
    formerUser: () => sameProject(User, 'user_id').nullable(),
    formerDevice: () => sameProject(Device, 'device_id').nullable(),
    formerAmr: p.array().columnType('text[]').fieldName('amr'),
    /** The proofs of this sign-in, oldest first (`policy/evidence.ts`). */
    evidence: p.json<Evidence[]>().defaultRaw("'[]'"),
    /** The account that the evidence names; computed by the database. */
    accountId: () => p.uuid().nullable().generated("(((evidence -> 0) ->> 'account'::text))::uuid stored"),
    rememberDevice: p.boolean().default(true),
    /** The change that this sign-in authorizes; it stays open for that after success. */
    stepUp: p.enum(stepUps).nullable(),
    mfaMethod: p.enum(mfaMethods).nullable(),
    /** SHA-256 of the `session_id` of MFA_REQUIRED. */
    mfaSessionHash: p.text().nullable(),
    /** The required second factor. */
    enrolmentId: p.uuid().nullable(),
    /** Attempts at the second factor; at five this sign-in ends. */
    mfaAttempts: p.integer().default(0),
    /** SHA-256 of the WebAuthn challenge that is outstanding; single use; null: none. */
    passkeyChallengeHash: p.text().nullable(),
    passkeyPurpose: p.text().$type<PasskeyPurpose>().nullable(),
    createdAt: instant(),
    expiresAt: instant().index(),
    finishedAt: instant().nullable(),
  },
  // Partial: most sign-ins begin without an address or an account, and end immediately.
  indexes: [
    {
      name: 'ceremonies_project_id_started_address_index',
      expression:
        'create index "ceremonies_project_id_started_address_index" on "ceremonies" ("project_id", "address") where ("address" is not null)',
    },
    {
      name: 'ceremonies_project_id_request_id_started_index',
      expression:
        'create index "ceremonies_project_id_request_id_started_index" on "ceremonies" ("project_id", "request_id") where ("request_id" is not null and "address" is not null)',
    },
    {
      name: 'ceremonies_proved_account_id_index',
      expression:
        'create index "ceremonies_proved_account_id_index" on "ceremonies" ("account_id") where ("account_id" is not null)',
    },
  ],
});

/** A sign-in in progress (`txn`, ten minutes). */
export class Ceremony extends schema.class {}
schema.setClass(Ceremony);
