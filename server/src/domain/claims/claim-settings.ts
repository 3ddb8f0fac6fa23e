import { invalid } from '../kernel/problem.ts';
import { claimNameFault } from './claim-names.ts';
import { type ClaimSettingsRow, groupSelections } from './claim-settings.entity.ts';
import { checkedMappings, checkedPrefix, type MappingInput } from './mapping.ts';

/** Settings of the claims of one application. */
export type ClaimSettings = Pick<
  ClaimSettingsRow,
  'groups' | 'listLimit' | 'rolesClaim' | 'directoryRoles' | 'mappings' | 'version'
> & { groupPrefix: string | null };

/** Absent fields stay unchanged. */
export interface ClaimSettingsChange {
  groups?: ClaimSettings['groups'] | undefined;
  groupPrefix?: string | null | undefined;
  listLimit?: number | undefined;
  rolesClaim?: string | undefined;
  directoryRoles?: boolean | undefined;
  mappings?: readonly MappingInput[] | undefined;
}

/** The default settings of an application. Version 0 is never stored. */
export const defaultClaimSettings: ClaimSettings = {
  groups: 'all',
  groupPrefix: null,
  // As in Entra ID for tokens in JWT form.
  listLimit: 200,
  rolesClaim: 'roles',
  directoryRoles: false,
  mappings: [],
  version: 0,
};

const maxListLimit = 1000;

/** The settings after a change. Refuses `invalid`. */
export function changedSettings(current: ClaimSettings, change: ClaimSettingsChange): ClaimSettings {
  const { groups = current.groups, groupPrefix = current.groupPrefix, mappings } = change;
  const { listLimit = current.listLimit, rolesClaim = current.rolesClaim } = change;
  const { directoryRoles = current.directoryRoles } = change;
  if (!groupSelections.includes(groups)) invalid('groups', `must be one of ${groupSelections.join(', ')}`);
  const prefix = groupPrefix === null ? null : checkedPrefix(groupPrefix, 'groupPrefix');
  if (groups === 'prefix' && !prefix) invalid('groupPrefix', 'is required to select groups by prefix');
  if (!Number.isInteger(listLimit) || listLimit < 1 || listLimit > maxListLimit) {
    invalid('listLimit', `must be from 1 to ${maxListLimit}`);
  }
  const fault = rolesClaim === 'groups' ? 'must not be groups' : claimNameFault(rolesClaim);
  if (fault !== null) invalid('rolesClaim', fault);
  if (typeof directoryRoles !== 'boolean') invalid('directoryRoles', 'must be true or false');
  return {
    groups,
    groupPrefix: groups === 'prefix' ? prefix : null,
    listLimit,
    rolesClaim,
    directoryRoles,
    mappings: mappings ? checkedMappings(mappings) : current.mappings,
    version: current.version,
  };
}
