import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { columnsOf } from '../kernel/resource.ts';
import { tenant } from '../projects/tenant.ts';
import { organizationFields } from './organization.resource.ts';

/** SQL: the text that searches compare, as in the index. @param row alias with a dot, or empty */
export const searchedText = (row: string) => `search_fold(${row}name) || ' ' || ${row}slug`;

const schema = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    project: tenant,
    id: key(),
    ...columnsOf(organizationFields),
    /** A JSON object of the project's own back end; the server does not read it. */
    metadata: p.json<Record<string, unknown>>().default('{}'),
    createdAt: instant(),
    updatedAt: instant(),
  },
  // By id alone: the address of a directory names no project.
  indexes: [
    { name: 'organizations_id_index', properties: ['id'] },
    {
      name: 'organizations_search_index',
      expression: `create index "organizations_search_index" on "organizations" using gin ((${searchedText('')}) gin_trgm_ops)`,
    },
  ],
  uniques: [{ name: 'organizations_project_id_slug_unique', properties: ['project', 'slug'] }],
});

/** A customer of the project, with its own members (decisions/0382). */
export class Organization extends schema.class {}
schema.setClass(Organization);
