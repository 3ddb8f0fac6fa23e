import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

const schema = defineEntity({
  name: 'RequestRecord',
  tableName: 'scim_request_records',
  properties: {
    project: tenant,
    id: key(),
    /** The organization whose directory sent it; null: the project's own. */
    organizationId: p.uuid().nullable(),
    at: instant(),
    tokenId: p.uuid(),
    tokenName: p.text(),
    method: p.text(),
    /** Below the directory's base address, query included. */
    path: p.text(),
    /** The user or group of the request. */
    resourceId: p.uuid().nullable(),
    status: p.integer(),
    scimType: p.text().nullable(),
    /** Reason of the refusal. */
    detail: p.text().nullable(),
    durationMs: p.integer(),
    userAgent: p.text().nullable(),
    /** Without secrets, truncated. */
    requestBody: p.text().nullable(),
    /** Truncated; only the totals of lists. */
    responseBody: p.text().nullable(),
    /** Attributes of an accepted change that no schema has; null in records from before release 1.0. */
    ignored: p.array().columnType('text[]').nullable(),
    /** Marks of the users that the texts may name (`concerned.ts`); null in records from before release 1.0: any user. */
    concerns: p.array().columnType('text[]').nullable(),
  },
  indexes: [
    { name: 'scim_request_records_resource_id_index', properties: ['resourceId'] },
    {
      name: 'scim_request_records_of_directory_index',
      expression:
        'create index "scim_request_records_of_directory_index" on "scim_request_records" ("project_id", coalesce("organization_id", "project_id"), "id")',
    },
  ],
});

/** A SCIM request and its response, for troubleshooting. Only recent ones are kept. */
export class RequestRecord extends schema.class {}
schema.setClass(RequestRecord);
