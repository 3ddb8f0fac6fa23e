import type { Schema } from './attribute.ts';

/** RFC 7643 §4.2. Members are users of the project. */
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
      description: 'The users that belong to the group.',
      storage: {
        kind: 'elements',
        from: `(select m.project_id, m.user_id from group_members m
          where m.project_id = r.project_id and m.group_id = r.id) e`,
      },
      subAttributes: [
        {
          name: 'value',
          type: 'string',
          description: 'The id of the user.',
          mutability: 'immutable',
          caseExact: true,
          storage: { kind: 'uuid', value: 'e.user_id' },
        },
        {
          name: '$ref',
          type: 'reference',
          description: 'The address of the user.',
          mutability: 'immutable',
          caseExact: true,
          referenceTypes: ['User'],
          storage: { kind: 'location', id: 'e.user_id', resourceType: 'User' },
        },
        {
          name: 'type',
          type: 'string',
          description: 'What kind of member it is.',
          mutability: 'immutable',
          canonicalValues: ['User'],
          storage: { kind: 'text', value: `'User'::text` },
        },
        {
          name: 'display',
          type: 'string',
          description: 'The displayName of the user.',
          mutability: 'readOnly',
          storage: {
            kind: 'text',
            value: '(select u.display_name from users u where u.project_id = e.project_id and u.id = e.user_id)',
          },
        },
      ],
    },
  ],
};
