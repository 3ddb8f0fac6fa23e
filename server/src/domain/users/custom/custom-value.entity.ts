import { defineEntity, p } from '@mikro-orm/core';
import { impliedTenant, sameProject } from '../../projects/tenant.ts';
import { User } from '../user.entity.ts';

const schema = defineEntity({
  name: 'CustomValue',
  tableName: 'custom_values',
  properties: {
    project: impliedTenant,
    user: () => sameProject(User, 'user_id').primary(),
    /** The name of the attribute. */
    attribute: p.text().primary(),
    /** The value in the form for comparison (`keyOf`). */
    key: p.text().primary(),
    isUnique: p.boolean(),
    /** The home of the user: values are unique there. */
    organizationId: p.uuid().nullable(),
  },
  indexes: [
    {
      name: 'custom_values_project_id_attribute_key_unique',
      expression:
        'create unique index "custom_values_project_id_attribute_key_unique" on "custom_values" ("project_id", "attribute", "key", coalesce("organization_id", "project_id")) where "is_unique"',
    },
    {
      name: 'custom_values_project_id_attribute_key_user_id_index',
      expression:
        'create index "custom_values_project_id_attribute_key_user_id_index" on "custom_values" ("project_id", "attribute", "key" collate "C", "user_id")',
    },
  ],
});

/** Index of the values of those custom attributes that are unique or indexed. */
export class CustomValue extends schema.class {}
schema.setClass(CustomValue);
