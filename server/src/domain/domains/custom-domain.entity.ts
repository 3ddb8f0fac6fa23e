import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

/** `failed`: never verified in time, or its record has vanished or its name servers no longer answer. */
export const domainStates = ['pending', 'verified', 'failed'] as const;
type DomainState = (typeof domainStates)[number];

/**
 * The result of the last check. `missing`: no record with the challenge; `unavailable`: the name servers did not
 * respond; `taken`: the record exists, but another project holds the host.
 */
export const domainFaults = ['missing', 'unavailable', 'taken'] as const;
export type DomainFault = (typeof domainFaults)[number];

const schema = defineEntity({
  name: 'CustomDomain',
  tableName: 'custom_domains',
  properties: {
    project: tenant,
    id: key(),
    /** ASCII, in lower case. */
    host: p.text(),
    /** The value of the TXT record; not secret. */
    challenge: p.text(),
    state: p.text().$type<DomainState>().default('pending'),
    createdAt: instant(),
    /** Start of the last check. */
    checkedAt: instant().nullable(),
    /** Null: the last check succeeded, or there was none. */
    fault: p.text().$type<DomainFault>().nullable(),
    verifiedAt: instant().nullable(),
    /** Time since which checks of a verified domain have not found its record; null: the last one did. */
    missingSince: instant().nullable(),
    /** Time since which no check of a verified domain got an answer, while other names were answered; null: the last one did. */
    unansweredSince: instant().nullable(),
    /** Time at which admins were warned of the failing checks of a verified domain; null: not since the last success. */
    warnedAt: instant().nullable(),
  },
  uniques: [{ name: 'custom_domains_project_id_host_unique', properties: ['project', 'host'] }],
});

/** A project's claim to a host name. Only a row of `verified_hosts` makes it the project's. */
export class CustomDomain extends schema.class {}
schema.setClass(CustomDomain);
