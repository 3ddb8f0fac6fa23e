import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../../clients/client.entity.ts';
import { instant, key } from '../../kernel/columns.ts';
import { impliedTenant, sameProject } from '../../projects/tenant.ts';

const schema = defineEntity({
  name: 'DeviceAuthorization',
  tableName: 'device_authorizations',
  properties: {
    project: impliedTenant,
    id: key(),
    client: () => sameProject(Client, 'client_id'),
    /** The issuer that received it, and the only one that issues its tokens. */
    issuer: p.text(),
    /** SHA-256 of the device code. */
    deviceHash: p.text(),
    /** Keyed hash of the user code: it has 34 bits. */
    userCodeHash: p.text(),
    scope: p.text(),
    /** The organization that the device asked for; null: none. */
    organizationId: p.uuid().nullable(),
    /** Address of the device, or of the application's server. */
    ip: p.text().nullable(),
    createdAt: instant(),
    expiresAt: instant().index(),
    /** Seconds between two polls; grows by 5 whenever one comes too early. */
    intervalSeconds: p.integer(),
    /** By the clock of the database. */
    polledAt: instant().nullable(),
    /** Whether the last poll came too early. */
    hurried: p.boolean().default(false),
    decidedAt: instant().nullable(),
    /** Null: undecided. */
    approved: p.boolean().nullable(),
  },
  uniques: [
    { name: 'device_authorizations_project_id_user_code_hash_unique', properties: ['project', 'userCodeHash'] },
  ],
  indexes: [{ name: 'device_authorizations_project_id_device_hash_index', properties: ['project', 'deviceHash'] }],
});

/**
 * A device that waits for a person to sign in elsewhere (RFC 8628). Once approved, its device code is an authorization code:
 * a row of `authorization_codes` with the same hash.
 */
export class DeviceAuthorization extends schema.class {}
schema.setClass(DeviceAuthorization);
