import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { Project } from '../projects/project.entity.ts';

const schema = defineEntity({
  name: 'RequestRecord',
  tableName: 'scim_request_records',
  properties: {
    id: key(),
    project: () => p.manyToOne(Project).ref().deleteRule('cascade'),
    at: instant(),
    tokenId: p.uuid(),
    tokenName: p.text(),
    method: p.text(),
    /** Below the project's base address, query included. */
    path: p.text(),
    /** The user or group that it was about, so that an erasure finds it. */
    resourceId: p.uuid().nullable(),
    status: p.integer(),
    scimType: p.text().nullable(),
    /** Why it was refused, in a sentence. */
    detail: p.text().nullable(),
    durationMs: p.integer(),
    userAgent: p.text().nullable(),
    /** What was sent, without secrets, cut off where it is long. */
    requestBody: p.text().nullable(),
    /** What was answered; of lists only the totals. */
    responseBody: p.text().nullable(),
  },
  indexes: [
    { name: 'scim_request_records_project_id_id_index', properties: ['project', 'id'] },
    { name: 'scim_request_records_resource_id_index', properties: ['resourceId'] },
  ],
});

/** One request of a directory and its answer, for whoever sets it up. Few are kept, and not for long. */
export class RequestRecord extends schema.class {}
schema.setClass(RequestRecord);
