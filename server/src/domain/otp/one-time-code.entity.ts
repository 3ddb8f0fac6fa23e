import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'OneTimeCode',
  tableName: 'one_time_codes',
  properties: {
    project: tenant,
    id: key(),
    /** The only ceremony in which the code is valid. */
    ceremonyId: p.uuid().index(),
    purpose: p.text().$type<'sign-in' | 'mfa-email' | 'mfa-sms' | 'phone' | 'email'>(),
    /** Keyed hash of the account: open codes are counted by it. */
    account: p.text().index(),
    /** The user that it signs in; null if no account had the address when the code was issued. */
    userId: p.uuid().nullable(),
    clientId: p.uuid().nullable(),
    /** Keyed hash of its address or factor; null in rows from before release 1.0, which are not accepted. */
    address: p.text().nullable(),
    /** Keyed hash of the destination; null: not sent. */
    sentTo: p.text().nullable(),
    /** `long`: ten base32 characters. */
    format: p.text().$type<'short' | 'long'>().default('short'),
    /** Whether the requester (key or network) had signed in as this user before. */
    requesterKnown: p.boolean().default(false),
    /** RFC 7638 thumbprint of the device key that requested it. */
    jkt: p.text().nullable(),
    /** HMAC of the code, keyed for this row: a leaked table cannot be brute-forced. */
    codeMac: p.text(),
    attempts: p.integer().default(0),
    createdAt: instant(),
    expiresAt: instant(),
    usedAt: instant().nullable(),
    /** Time at which a newer code replaced it. */
    replacedAt: instant().nullable(),
  },
  indexes: [
    { name: 'one_time_codes_project_id_user_id_index', properties: ['project', 'userId'] },
    { name: 'one_time_codes_project_id_address_index', properties: ['project', 'address'] },
  ],
});

/** A one-time code. Single use, five attempts, five minutes. */
export class OneTimeCode extends schema.class {}
schema.setClass(OneTimeCode);
