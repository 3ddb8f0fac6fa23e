import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../kernel/problem.ts';
import { isUuid } from '../kernel/secret.ts';
import { type Fragment, sql } from '../kernel/sql.ts';
import { Logo } from './logo.entity.ts';

/** Refuses `invalid` unless null, or the id of a logo of the project. */
export async function checkLogoId(
  em: EntityManager,
  projectId: string,
  field: string,
  id: string | null | undefined,
): Promise<void> {
  if (id == null || (isUuid(id) && (await em.count(Logo, { id, project: projectId })) === 1)) return;
  refuse({ code: 'invalid', field, reason: 'must be the id of a logo of this project' });
}

/** SQL: whether the logo `l` is used by a draft, a version or an application. */
export const isUsedLogo: Fragment = isUsed();

function isUsed(): Fragment {
  const names = sql`(x.content->>'logoId' = l.id::text or x.content->>'darkLogoId' = l.id::text)`;
  return sql`(exists (select 1 from experience_versions x where x.project_id = l.project_id and ${names})
    or exists (select 1 from experience_drafts x where x.project_id = l.project_id and ${names})
    or exists (select 1 from clients x where x.project_id = l.project_id and x.logo_id = l.id::text))`;
}

/** Where pages of this instance load a logo. */
export function logoPath(id: string): string {
  return `/experience/logos/${id}`;
}
