import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../../kernel/columns.ts';
import { impliedTenant, sameProject } from '../../projects/tenant.ts';
import { Organization } from '../organization.entity.ts';

const open = '("accepted_at" is null and "revoked_at" is null)';

const schema = defineEntity({
  name: 'OrganizationInvitation',
  tableName: 'organization_invitations',
  properties: {
    project: impliedTenant,
    id: key(),
    organization: () => sameProject(Organization, 'organization_id'),
    email: p.text(),
    /** See `addressKey`. */
    emailKey: p.text(),
    /** SHA-256 of the secret in the link of the last mail. */
    secretHash: p.text(),
    /** Roles of the new member; those deleted since are left out. */
    roleIds: p.array().columnType('uuid[]').default([]),
    createdAt: instant(),
    /** When the last mail was queued. */
    sentAt: instant(),
    expiresAt: instant(),
    acceptedAt: instant().nullable(),
    revokedAt: instant().nullable(),
  },
  uniques: [{ name: 'organization_invitations_project_id_secret_hash_unique', properties: ['project', 'secretHash'] }],
  indexes: [
    { name: 'organization_invitations_project_id_organization_id_id_index', properties: ['organization', 'id'] },
    { name: 'organization_invitations_project_id_email_key_index', properties: ['project', 'emailKey'] },
    { name: 'organization_invitations_expires_at_index', properties: ['expiresAt'] },
    {
      name: 'organization_invitations_open_unique',
      expression: `create unique index "organization_invitations_open_unique" on "organization_invitations" ("project_id", "organization_id", "email_key") where ${open}`,
    },
  ],
});

/** An invitation of a mail address to an organization. At most one per address and organization is open. */
export class OrganizationInvitation extends schema.class {}
schema.setClass(OrganizationInvitation);
