import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'ExperienceDraft',
  tableName: 'experience_drafts',
  properties: {
    project: tenant,
    /** An `ExperienceContent`. Absent: equal to the published version. */
    content: p.json<object>().nullable(),
    /** Incremented by every change, even when the draft is published or discarded. */
    version: p.integer(),
    updatedAt: instant(),
    updatedBy: p.text().nullable(),
  },
});

/** The draft of a project's experience; only its admins see it. */
export class ExperienceDraft extends schema.class {}
schema.setClass(ExperienceDraft);
