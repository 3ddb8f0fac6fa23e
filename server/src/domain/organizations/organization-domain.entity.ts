import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { Organization } from './organization.entity.ts';

export const organizationDomainStates = ['pending', 'verified'] as const;

/** The result of the last check: no record with the challenge, no answer, or verified by another organization. */
export const organizationDomainFaults = ['missing', 'unavailable', 'taken'] as const;

export const domainProofs = ['dns', 'admin'] as const;

const schema = defineEntity({
  name: 'OrganizationDomain',
  tableName: 'organization_domains',
  properties: {
    project: impliedTenant,
    id: key(),
    organization: () => sameProject(Organization, 'organization_id'),
    /** ASCII, in lower case. */
    domain: p.text(),
    /** The value of the TXT record; not secret. */
    challenge: p.text(),
    state: p.enum(organizationDomainStates).default('pending'),
    /** Null: pending. */
    provedBy: p.enum(domainProofs).nullable(),
    /** Why an admin verified it without the record. */
    reason: p.text().nullable(),
    createdAt: instant(),
    verifiedAt: instant().nullable(),
    /** Start of the last check. */
    checkedAt: instant().nullable(),
    /** Null: the last check succeeded, or there was none. */
    fault: p.enum(organizationDomainFaults).nullable(),
    /** Time since which checks of a verified domain have failed; null: the last one did not. */
    failingSince: instant().nullable(),
  },
  uniques: [
    {
      name: 'organization_domains_project_id_organization_id_domain_unique',
      properties: ['organization', 'domain'],
    },
  ],
  indexes: [
    {
      name: 'organization_domains_verified_unique',
      expression:
        'create unique index "organization_domains_verified_unique" on "organization_domains" ("project_id", "domain") where ("state" = \'verified\')',
    },
  ],
});

/** A mail domain of an organization. At most one organization of a project holds a verified domain. */
export class OrganizationDomain extends schema.class {}
schema.setClass(OrganizationDomain);
