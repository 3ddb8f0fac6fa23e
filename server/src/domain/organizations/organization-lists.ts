import { searchFold } from '@latchkey/contracts/search-fold';
import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { containing, type Page, type PageRequest, pageOf, type Total, totalOf } from '../kernel/page.ts';
import { type Executing, sql } from '../kernel/sql.ts';
import { Organization, searchedText } from './organization.entity.ts';

/** The organizations of a project, newest first. @param search part of the name or slug, ignoring case and accents */
export function organizationsOf(
  em: EntityManager,
  projectId: string,
  search: string | undefined,
  page: PageRequest,
): Promise<Page<Organization>> {
  const part = searchFold((search ?? '').trim());
  const searched = raw((table) => `(${searchedText(`${table}.`)})`);
  const found: object = part === '' ? {} : { [searched]: { $like: containing(part) } };
  return pageOf(em, Organization, { project: projectId, ...found }, page);
}

export function countOrganizations(on: Executing, projectId: string, search: string | undefined): Promise<Total> {
  const part = searchFold((search ?? '').trim());
  const found = part === '' ? sql`true` : sql`(${sql.raw(searchedText('o.'))}) like ${containing(part)}`;
  return totalOf(on, sql`from organizations o where o.project_id = ${projectId}::uuid and ${found}`);
}
