import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { Project } from '../projects/project.entity.ts';

const schema = defineEntity({
  name: 'OneTimeCode',
  tableName: 'one_time_codes',
  properties: {
    id: key(),
    project: () => p.manyToOne(Project).ref().deleteRule('cascade'),
    /** The ceremony it was made for; a code is good nowhere else. */
    ceremonyId: p.uuid().index(),
    purpose: p.text().$type<'sign-in' | 'mfa-email' | 'mfa-sms' | 'phone'>(),
    /** Keyed hash of the account that it speaks for, so that only its newest code is good. */
    account: p.text().index(),
    /** The device key that asked for it (RFC 7638 thumbprint). */
    jkt: p.text().nullable(),
    /** HMAC of the six digits, keyed for this row: a copy of the table cannot be searched. */
    codeMac: p.text(),
    attempts: p.integer().default(0),
    createdAt: instant(),
    expiresAt: instant(),
    usedAt: instant().nullable(),
    /** A newer code took its place. */
    replacedAt: instant().nullable(),
  },
});

/** Six digits that were sent to somebody. Single use, five tries, five minutes. */
export class OneTimeCode extends schema.class {}
schema.setClass(OneTimeCode);
