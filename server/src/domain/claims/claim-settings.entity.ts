import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import type { ClaimMapping } from './mapping.ts';

/** Which groups an application sees: all, those that hold one of its roles, or those whose names begin with a prefix. */
export const groupSelections = ['all', 'assigned', 'prefix'] as const;

const schema = defineEntity({
  name: 'ClaimSettingsRow',
  tableName: 'claim_settings',
  properties: {
    project: impliedTenant,
    client: () => sameProject(Client, 'client_id').primary(),
    groups: p.enum(groupSelections),
    /** Only for the selection `prefix`. */
    groupPrefix: p.text().nullable(),
    /** The most entries of a list in an ID token. */
    listLimit: p.integer(),
    /** The claim of the scope `roles`. */
    rolesClaim: p.text(),
    /** Whether the SCIM attribute `roles` is part of that claim. */
    directoryRoles: p.boolean(),
    mappings: p.json<ClaimMapping[]>(),
    version: p.integer(),
    updatedAt: instant(),
  },
});

/** The claim settings of a client; without a row, the defaults. */
export class ClaimSettingsRow extends schema.class {}
schema.setClass(ClaimSettingsRow);
