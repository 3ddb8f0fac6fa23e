import { defineEntity, p } from '@mikro-orm/core';
import type { JWK } from 'jose';
import { Client } from '../clients/client.entity.ts';
import { instant } from '../kernel/columns.ts';
import { sameProject } from '../projects/tenant.ts';
import { Credential } from './credential.entity.ts';

const schema = defineEntity({
  name: 'Device',
  extends: Credential,
  discriminatorValue: 'device-key',
  properties: {
    /** The client that it was registered at. */
    client: () => sameProject(Client, 'client_id'),
    /**
     * Whether the hosted page keeps it: it is then trusted at every client of the project (decisions §11). Null: a page
     * of its application keeps it. False: registered before this column existed; kept for its client on either page.
     */
    hosted: p.boolean().nullable().default(false),
    /** RFC 7638 thumbprint of the key. */
    jkt: p.text().index(),
    publicJwk: p.json<JWK>(),
    /** The algorithm of the stored key; a proof's header is never trusted for it. */
    alg: p.text(),
    /** Whether its trust outlives the sign-in that registered it. */
    remembered: p.boolean().default(true),
    /** Trust expiry; slides with use if remembered; null: no longer trusted. */
    trustedUntil: instant().nullable(),
    /** Time of the mail code that registered this key; null: `createdAt`. Start of the absolute lifetime. */
    registeredAt: instant().nullable(),
    /**
     * Time at which the directory deactivated the user; not trusted until a reactivation or a mail code clears it
     * (decisions/0119).
     */
    suspendedAt: instant().nullable(),
    /** Time of the last second factor with `remember_me`; the project's policy decides how long it is skipped. */
    mfaRememberedAt: instant().nullable(),
    /** Until when this device skips the second factor. Written for commit 5ffac69 only; the release after 1.0 drops it. */
    mfaRememberedUntil: instant().nullable(),
  },
  uniques: [{ name: 'credentials_project_id_client_id_user_id_jkt_unique', properties: ['client', 'user', 'jkt'] }],
});

/** A registered browser of a user: one key per issuer, user and client, or project on the hosted page. */
export class Device extends schema.class {}
schema.setClass(Device);
