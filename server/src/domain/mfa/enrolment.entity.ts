import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { type MfaMethod, mfaMethods } from '../projects/project.entity.ts';
import { User } from '../users/user.entity.ts';

export { type MfaMethod, mfaMethods };

const schema = defineEntity({
  name: 'Enrolment',
  tableName: 'enrolments',
  properties: {
    id: key(),
    user: () => p.manyToOne(User).ref().deleteRule('cascade').index(),
    method: p.enum(mfaMethods),
    /** The device on which it is being set up: until it is verified, no other can go on with it. A back end's has none. */
    deviceId: p.uuid().nullable(),
    /** The sign-in or factor change that began it: it can be verified nowhere else. */
    ceremonyId: p.uuid().nullable(),
    /** E.164, for `sms`. */
    phone: p.text().nullable(),
    /** The TOTP secret, sealed for this row. */
    sealedSecret: p.blob().nullable(),
    /** The last TOTP time-step that was accepted: each is good once (RFC 6238 §5.2). */
    lastStep: p.bigint('number').nullable(),
    /** Wrong codes in a row; the waits grow with it, and at 50 the factor is off. */
    failures: p.integer().default(0),
    lockedUntil: instant().nullable(),
    createdAt: instant(),
    /** Absent while it has never been verified: such a factor neither protects nor lets in. */
    verifiedAt: instant().nullable(),
    lastUsedAt: instant().nullable(),
  },
});

/** A second factor of a user. */
export class Enrolment extends schema.class {}
schema.setClass(Enrolment);
