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
    /** Keyed hash of its account, so that only the account's newest code is good. */
    account: p.text().index(),
    /** The user that it signs in; null where no account had the address when the code was made. */
    userId: p.uuid().nullable(),
    clientId: p.uuid().nullable(),
    /** Keyed hash of the address or factor that it was made for; null in rows of the previous release. */
    address: p.text().nullable(),
    /** Keyed hash of where it was sent; null: nowhere. */
    sentTo: p.text().nullable(),
    /** `long`: ten characters of base32. */
    format: p.text().$type<'short' | 'long'>().default('short'),
    /** Whether the requester (key or network) had signed in as this user before. */
    requesterKnown: p.boolean().default(false),
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

/** A code of six digits that was sent. Single use, five tries, five minutes. */
export class OneTimeCode extends schema.class {}
schema.setClass(OneTimeCode);
