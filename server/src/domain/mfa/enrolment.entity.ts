import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { type MfaMethod, mfaMethods } from '../projects/project.resource.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

export { type MfaMethod, mfaMethods };

const schema = defineEntity({
  name: 'Enrolment',
  tableName: 'enrolments',
  properties: {
    project: impliedTenant,
    id: key(),
    user: () => sameProject(User, 'user_id'),
    method: p.enum(mfaMethods),
    /**
     * The device that enrolls it: until it is verified, only that device can continue. Null for a back end and the account
     * page.
     */
    deviceId: p.uuid().nullable(),
    /** The sign-in, factor change, or session (account page) that started it: it can be verified only there. */
    ceremonyId: p.uuid().nullable(),
    /** E.164, for `sms`; null: {@link isSuspended}. */
    phone: p.text().nullable(),
    /** The TOTP secret, encrypted for this row. */
    sealedSecret: p.blob().nullable(),
    /** The last accepted TOTP time-step: each is accepted once (RFC 6238 §5.2). */
    lastStep: p.bigint('number').nullable(),
    /** Consecutive wrong codes: they increase the wait, and 50 disable the factor. */
    failures: p.integer().default(0),
    lockedUntil: instant().nullable(),
    createdAt: instant(),
    /** Null until verified: an unverified factor is neither required nor accepted. */
    verifiedAt: instant().nullable(),
    lastUsedAt: instant().nullable(),
    /**
     * Added with only a mail code while a passkey has verified the user: where that passkey counts, the factor proves
     * no more than the mailbox does (decisions/0133).
     */
    besidePasskey: p.boolean().default(false),
  },
});

/** A second factor of a user. */
export class Enrolment extends schema.class {}
schema.setClass(Enrolment);

/** Whether it is an SMS factor whose user has no phone any more: neither required nor accepted, until they have one. */
export function isSuspended({ method, phone }: Pick<Enrolment, 'method' | 'phone'>): boolean {
  return method === 'sms' && phone == null;
}

/** Whether these factors prove only the mailbox. */
export function isMailboxAlone(factors: readonly Pick<Enrolment, 'method'>[]): boolean {
  return factors.every(({ method }) => method === 'email');
}
