import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { sameProject, tenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'ScimToken',
  tableName: 'scim_tokens',
  properties: {
    project: tenant,
    id: key(),
    /** The organization whose directory it is for; null: the project's own. */
    organization: () => sameProject(Organization, 'organization_id').nullable(),
    name: p.text(),
    hash: p.text().index(),
    hint: p.text(),
    expiresAt: instant().nullable(),
    createdAt: instant(),
    /** Networks that may use it, as CIDR; none: all. */
    networks: p.array().columnType('text[]').default([]),
    lastUsedAt: instant().nullable(),
    lastUsedAddress: p.text().nullable(),
    /** Time at which a use from another network was last recorded. */
    networkRefusedAt: instant().nullable(),
    /** Days before the expiry at which the last warning was due. */
    warnedDays: p.integer().nullable(),
    revokedAt: instant().nullable(),
  },
  indexes: [{ name: 'scim_tokens_project_id_organization_id_index', properties: ['organization'] }],
});

/** A directory's bearer token for one project or organization (`lk_scim_…`). Shown once, stored as a hash. */
export class ScimToken extends schema.class {}
schema.setClass(ScimToken);
