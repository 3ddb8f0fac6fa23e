import { refuse } from '../../domain/kernel/problem.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import type { UserFilter } from '../../domain/users/user-list.ts';
import { withoutNulls } from '../api/context.ts';
import type { UserFilterInput } from './user.inputs.ts';

/** The filter of a list. Refuses `invalid` for a malformed id. */
export function userFilterOf(
  search: string | null | undefined,
  filter: UserFilterInput | null | undefined,
): UserFilter {
  const wanted = withoutNulls({ ...filter });
  if (wanted.groupId !== undefined && !isUuid(wanted.groupId)) {
    refuse({ code: 'invalid', field: 'filter.groupId', reason: 'must be the id of a group' });
  }
  if (wanted.organizationId !== undefined && !isUuid(wanted.organizationId)) {
    refuse({ code: 'invalid', field: 'filter.organizationId', reason: 'must be the id of an organization' });
  }
  if (wanted.homeId !== undefined && !isUuid(wanted.homeId)) {
    refuse({ code: 'invalid', field: 'filter.homeId', reason: 'must be the id of an organization' });
  }
  return { ...wanted, ...(search ? { search } : {}) };
}
