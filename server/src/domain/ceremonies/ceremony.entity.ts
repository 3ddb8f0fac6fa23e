import { stepUps } from '@latchkey/contracts';
import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { Device } from '../devices/device.entity.ts';
import { instant, key } from '../kernel/columns.ts';
import { type MfaMethod, mfaMethods } from '../mfa/enrolment.entity.ts';
import { Project } from '../projects/project.entity.ts';
import { User } from '../users/user.entity.ts';
import { AuthorizationRequest } from './authorization-request.entity.ts';

/** Where a sign-in stands; `steps.ts` holds the table of what each state allows. */
export const ceremonyStates = [
  'challenged',
  'otp_sent',
  'otp_verified',
  'registered',
  'mfa_owed',
  'mfa_initiated',
  'stepped_up',
  'phone_code_sent',
  'finished',
] as const;
export type CeremonyState = (typeof ceremonyStates)[number];

/**
 * One thing that was proved in a sign-in, and the account that it proves. Appended by the step that verified it, and never
 * changed. Times are ISO 8601.
 */
export type Evidence = { account: string; at: string } /** `ceremony`: the sign-in whose code it was. */ & (
  | { kind: 'mail-code'; address: string; ceremony: string }
  /** `isNew`: the key was registered for the first time, in this sign-in. */
  | { kind: 'device-key'; device: string; isNew?: boolean }
  | { kind: 'factor'; enrolment: string; method: MfaMethod }
  | { kind: 'recovery-code' }
);

const schema = defineEntity({
  name: 'Ceremony',
  tableName: 'ceremonies',
  properties: {
    id: key(),
    project: () => p.manyToOne(Project).ref().deleteRule('cascade'),
    client: () => p.manyToOne(Client).ref().deleteRule('cascade'),
    /** The hosted page's request; absent for the SDK on a relying party's page. */
    request: () => p.manyToOne(AuthorizationRequest).ref().nullable().deleteRule('cascade'),
    /** SHA-256 of `txn`. */
    txnHash: p.text().unique(),
    /** SHA-256 of the nonce that the next proof must carry. */
    nonceHash: p.text(),
    nonceExpiresAt: instant(),
    state: p.enum(ceremonyStates),
    /** The page's origin, as the browser sent it at `challenge`. */
    origin: p.text(),
    /** RFC 7638 thumbprint of the page's device key; absent: no device can be registered. */
    jkt: p.text().nullable(),
    codeChallenge: p.text().nullable(),
    /** The address, as it is compared; set by `authenticate`. */
    address: p.text().nullable(),
    /** The next three are written by the previous release only. */
    formerUser: () => p.manyToOne(User).ref().nullable().deleteRule('cascade').joinColumn('user_id'),
    formerDevice: () => p.manyToOne(Device).ref().nullable().deleteRule('cascade').joinColumn('device_id'),
    formerAmr: p.array().columnType('text[]').fieldName('amr'),
    /** What was proved in this sign-in, oldest first (`evidence.ts`). */
    evidence: p.json<Evidence[]>().defaultRaw("'[]'"),
    /** The account that the evidence names; computed by the database. */
    account: () =>
      p
        .manyToOne(User)
        .ref()
        .nullable()
        .deleteRule('cascade')
        .index()
        .generated("(((evidence -> 0) ->> 'account'::text))::uuid stored"),
    rememberDevice: p.boolean().default(true),
    /** What this sign-in is the fresh proof for; it goes on after its end for that. */
    stepUp: p.enum(stepUps).nullable(),
    mfaMethod: p.enum(mfaMethods).nullable(),
    /** SHA-256 of the `session_id` of MFA_REQUIRED. */
    mfaSessionHash: p.text().nullable(),
    /** The factor that is owed. */
    enrolmentId: p.uuid().nullable(),
    /** Codes of the second factor that were tried here; five and this sign-in is over. */
    mfaAttempts: p.integer().default(0),
    createdAt: instant(),
    expiresAt: instant().index(),
    finishedAt: instant().nullable(),
  },
});

/** One sign-in on its way (`txn`, ten minutes). */
export class Ceremony extends schema.class {}
schema.setClass(Ceremony);
