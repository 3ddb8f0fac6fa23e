import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'ExperienceVersion',
  tableName: 'experience_versions',
  properties: {
    project: tenant,
    id: key(),
    /** 1, 2, 3, …; the highest is live. */
    number: p.integer(),
    /** An `ExperienceContent`. */
    content: p.json<object>(),
    publishedAt: instant(),
    publishedBy: p.text().nullable(),
    /** The version that this one restored. */
    revertedTo: p.integer().nullable(),
  },
  uniques: [{ name: 'experience_versions_project_id_number_unique', properties: ['project', 'number'] }],
});

/** A published version; immutable, can be published again. */
export class ExperienceVersion extends schema.class {}
schema.setClass(ExperienceVersion);
