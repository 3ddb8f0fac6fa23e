import type { Accounts } from '../../domain/accounts/accounts.ts';
import type { Admissions } from '../../domain/accounts/admissions.ts';
import type { AdminClients } from '../../domain/admins/admin-clients.ts';
import type { Directories } from '../../domain/directories/directories.ts';
import type { Random } from '../../domain/kernel/random.ts';
import type { Vault } from '../../domain/keys/vault.ts';
import { type PoolTurns, Turns } from '../../domain/limits/turns.ts';
import type { Roles } from '../../domain/roles/roles.ts';
import type { CustomAttributes } from '../../domain/users/custom/custom-attributes.ts';
import type { Groups } from '../../domain/users/groups.ts';
import type { GroupMembers } from '../../domain/users/members/group-members.ts';
import { type AnswerLimits, defaultAnswerLimits } from '../answers/limits.ts';
import { BulkEndpoint } from '../bulk.ts';
import { GroupEndpoint } from '../groups.ts';
import type { MeDeps } from '../me.ts';
import { defaultRateLimit, type RateLimit, RateLimiter } from '../rate-limit.ts';
import type { ResponseDeps } from '../respond.ts';
import { OfferedRoleEndpoint } from '../roles.ts';
import { entitlementType, roleType } from '../schema/resource-type.ts';
import { Cursors } from '../search/cursor.ts';
import { UserEndpoint } from '../users.ts';

export interface ScimDeps extends ResponseDeps, MeDeps {
  accounts: Accounts;
  admissions: Admissions;
  groups: Groups;
  groupMembers: GroupMembers;
  roles: Roles;
  directories: Directories;
  adminClients: AdminClients;
  customAttributes: CustomAttributes;
  vault: Vault;
  random: Random;
  rateLimit?: RateLimit;
  /** Default: {@link defaultAnswerLimits}. */
  answerLimits?: AnswerLimits;
  poolTurns: PoolTurns;
}

/** The endpoints of SCIM, and what the requests of this process share. */
export interface ScimService {
  deps: ScimDeps;
  users: UserEndpoint;
  groups: GroupEndpoint;
  roles: OfferedRoleEndpoint;
  entitlements: OfferedRoleEndpoint;
  bulk: BulkEndpoint;
  cursors: Cursors;
  limits: AnswerLimits;
  limiter: RateLimiter;
  /** Requests of a project's directory that wait for the database. */
  turns: Turns;
  /** Large responses and bodies of a project in transfer. */
  large: Turns;
}

/** Large responses and bodies of a project in transfer at once, in this process, and further ones that wait. */
const largeAtOnce = { atOnce: 4, waiting: 12 };

export function scimService(deps: ScimDeps): ScimService {
  const { accounts, admissions, customAttributes, groups, groupMembers, roles, vault, clock, random, log, poolTurns } =
    deps;
  const { answerLimits: limits = defaultAnswerLimits, rateLimit = defaultRateLimit } = deps;
  const users = new UserEndpoint({ accounts, admissions, customAttributes, limits });
  const ofGroups = new GroupEndpoint({ groups, members: groupMembers, limits });
  const onFault = (err: unknown) => log.error({ err }, 'SCIM bulk operation failed');
  return {
    deps,
    users,
    groups: ofGroups,
    roles: new OfferedRoleEndpoint(roleType, { roles }),
    entitlements: new OfferedRoleEndpoint(entitlementType, { roles }),
    bulk: new BulkEndpoint({ users, groups: ofGroups, random, onFault }),
    cursors: new Cursors({ vault, clock }),
    limits,
    limiter: new RateLimiter({ clock, limit: rateLimit }),
    turns: poolTurns.ofCallers(rateLimit.burst),
    large: new Turns(largeAtOnce),
  };
}
