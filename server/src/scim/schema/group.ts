import { sql } from '../../domain/kernel/sql.ts';
import { membersOfRow } from '../../domain/users/memberships.ts';
import type { Schema } from './attribute.ts';

/** RFC 7643 §4.2. Members are users and groups of the project. */
export const groupSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  name: 'Group',
  description: 'Group',
  attributes: [
    {
      name: 'displayName',
      type: 'string',
      description: 'The name of the group.',
      required: true,
      maxLength: 512,
      check: (value) => (value.trim() === '' ? 'must not be blank' : undefined),
      storage: { kind: 'text', value: 'r.display_name' },
    },
    {
      name: 'members',
      type: 'complex',
      multiValued: true,
      description: 'The users and groups that belong to the group.',
      storage: {
        kind: 'elements',
        from: sql.raw(`${membersOfRow} e`),
      },
      subAttributes: [
        {
          name: 'value',
          type: 'string',
          description: 'The id of the user or group.',
          mutability: 'immutable',
          caseExact: true,
          storage: { kind: 'uuid', value: 'e.member_id' },
        },
        {
          name: '$ref',
          type: 'reference',
          description: 'The address of the user or group.',
          mutability: 'immutable',
          caseExact: true,
          referenceTypes: ['User', 'Group'],
          storage: { kind: 'location', id: 'e.member_id', resourceType: 'User', typeOf: 'e.kind' },
        },
        {
          name: 'type',
          type: 'string',
          description: 'The kind of member.',
          mutability: 'immutable',
          canonicalValues: ['User', 'Group'],
          storage: { kind: 'text', value: 'e.kind' },
        },
        {
          name: 'display',
          type: 'string',
          description: 'The displayName of the user or group.',
          mutability: 'readOnly',
          storage: {
            kind: 'text',
            value: `(select u.display_name from users u where u.project_id = e.project_id and u.id = e.member_id
              union all select g.display_name from groups g where g.project_id = e.project_id and g.id = e.member_id limit 1)`,
          },
        },
      ],
    },
  ],
};
