import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';

/** What a link allows. */
export const portalTasks = ['domains', 'connection', 'directory'] as const;
export type PortalTask = (typeof portalTasks)[number];

const schema = defineEntity({
  name: 'PortalLink',
  tableName: 'portal_links',
  properties: {
    project: impliedTenant,
    id: key(),
    organization: () => sameProject(Organization, 'organization_id'),
    /** New links go to it. */
    email: p.text(),
    /** See `addressKey`. */
    emailKey: p.text(),
    can: p.array().columnType('text[]').$type<PortalTask[]>(),
    /** Of a page of the project's own; null: none. */
    returnUrl: p.text().nullable(),
    /** The connection that it sets up; null: none. The row may be deleted. */
    connectionId: p.uuid().nullable(),
    /** The directory token that it issued; null: none, or another link replaced it. The row may be deleted. */
    scimTokenId: p.uuid().nullable(),
    /** SHA-256 of the secret in the last link. */
    secretHash: p.text(),
    /** SHA-256 of the secret in the cookie of the browser that opened a link last; null: none. */
    sessionHash: p.text().nullable(),
    createdAt: instant(),
    /** When the last link was opened; null: it works. */
    usedAt: instant().nullable(),
    expiresAt: instant(),
    completedAt: instant().nullable(),
    revokedAt: instant().nullable(),
  },
  checks: [
    {
      name: 'portal_links_can_check',
      expression: `can <@ array['domains', 'connection', 'directory'] and can <> '{}'`,
    },
  ],
  uniques: [
    { name: 'portal_links_project_id_secret_hash_unique', properties: ['project', 'secretHash'] },
    { name: 'portal_links_project_id_session_hash_unique', properties: ['project', 'sessionHash'] },
  ],
  indexes: [
    { name: 'portal_links_project_id_organization_id_id_index', properties: ['organization', 'id'] },
    { name: 'portal_links_project_id_email_key_index', properties: ['project', 'emailKey'] },
    { name: 'portal_links_expires_at_index', properties: ['expiresAt'] },
  ],
});

/** The access of an IT contact to the set-up of one organization, without an account (decisions/0418). */
export class PortalLink extends schema.class {}
schema.setClass(PortalLink);
