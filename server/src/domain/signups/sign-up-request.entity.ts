import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

export const signUpRequestStates = ['pending', 'declined'] as const;

const schema = defineEntity({
  name: 'SignUpRequest',
  tableName: 'sign_up_requests',
  properties: {
    project: tenant,
    id: key(),
    /** As typed; verified by a code. */
    address: p.text(),
    /** See `addressKey`. */
    addressKey: p.text(),
    state: p.enum(signUpRequestStates),
    /** The application at which the person asked; it may be deleted since. */
    clientId: p.uuid(),
    /** Language of the sign-in, for the mail that follows. */
    locale: p.text(),
    createdAt: instant(),
    /** When admins got a mail about it; null: not yet. */
    announcedAt: instant().nullable(),
    /** Then the row is deleted, and the address may ask again. */
    expiresAt: instant().index(),
  },
  uniques: [{ name: 'sign_up_requests_project_id_address_key_unique', properties: ['project', 'addressKey'] }],
});

/** A person who wants to sign up and waits for an admin. Deleted once approved: the user takes its place. */
export class SignUpRequest extends schema.class {}
schema.setClass(SignUpRequest);
