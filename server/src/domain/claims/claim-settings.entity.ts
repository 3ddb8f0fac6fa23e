import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';

/**
 * The groups that an application gets: all, those that hold one of its roles, or those whose names begin with a prefix.
 */
export const groupSelections = ['all', 'assigned', 'prefix'] as const;

/** Lists of a user: all groups, the roles of the application, and SCIM attributes. */
export const claimLists = ['groups', 'roles', 'directory-roles', 'entitlements', 'emails'] as const;
export type ClaimList = (typeof claimLists)[number];

/** Selects the entries of a list that begin with `prefix`. */
export interface ListFilter {
  of: ClaimList;
  /** Empty: all entries. */
  prefix: string;
  /** Whether entries are sent without the prefix. */
  removePrefix: boolean;
}

export type Constant = string | number | boolean | string[];

/** A claim and its source: exactly one of `attribute`, `constant`, `template` and `list`. */
export type ClaimMapping = {
  claim: string;
  /** The scope that the application must have been granted; null: none. */
  scope: string | null;
} & ({ attribute: string } | { constant: Constant } | { template: string } | { list: ListFilter });

const schema = defineEntity({
  name: 'ClaimSettingsRow',
  tableName: 'claim_settings',
  properties: {
    project: impliedTenant,
    client: () => sameProject(Client, 'client_id').primary(),
    groups: p.enum(groupSelections),
    /** Only for the selection `prefix`. */
    groupPrefix: p.text().nullable(),
    /** Maximum number of entries of a list in an ID token. */
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
