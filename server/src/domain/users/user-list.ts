import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type Page, type PageRequest, pageOf } from '../kernel/page.ts';
import { foldCase } from './login.ts';
import { User } from './user.entity.ts';

/** Which users of a project; what is absent is not asked. */
export interface UserFilter {
  /** The beginning of a userName, e-mail address, displayName or externalId, in any case. */
  search?: string | undefined;
  active?: boolean | undefined;
  provenance?: User['provenance'] | undefined;
}

/** Newest first. */
export function listUsers(
  em: EntityManager,
  projectId: string,
  filter: UserFilter,
  page: PageRequest,
): Promise<Page<User>> {
  return pageOf(em, User, matching(projectId, filter), page);
}

export function countUsers(em: EntityManager, projectId: string, filter: UserFilter): Promise<number> {
  return em.count(User, matching(projectId, filter));
}

function matching(projectId: string, { search, active, provenance }: UserFilter): FilterQuery<User> {
  const start = search === undefined ? '' : foldCase(search.trim()).replace(/[\\%_]/g, '\\$&');
  const columns = ['userNameKey', 'emailKey'] as const;
  return {
    project: projectId,
    ...(active === undefined ? {} : { active }),
    ...(provenance === undefined ? {} : { provenance }),
    ...(start === ''
      ? {}
      : {
          $or: [
            ...columns.map((column) => ({ [column]: { $like: `${start}%` } })),
            { displayName: { $ilike: `${start}%` } },
            { externalId: { $ilike: `${start}%` } },
          ],
        }),
  } as FilterQuery<User>;
}
