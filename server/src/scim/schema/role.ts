import { offered } from '../../domain/roles/role-lists.ts';
import type { Attribute, Schema } from './attribute.ts';

const readOnly = { mutability: 'readOnly' } as const;
const text = (name: string, description: string, value: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: 'string',
  description,
  storage: { kind: 'text', value },
  ...readOnly,
  ...more,
});

/** The schema of `/Roles` or `/Entitlements` (draft-ietf-scim-roles-entitlements-01 §3.2, §3.3). */
export function offeredSchema(name: 'Role' | 'Entitlement'): Schema {
  const attribute = name === 'Role' ? 'roles' : 'entitlements';
  return {
    id: `urn:ietf:params:scim:schemas:core:2.0:${name}`,
    name,
    description: 'A role of an application',
    attributes: [
      text('value', `The value in ${attribute} of a user. The id works, too.`, offered.value, {
        required: true,
        caseExact: true,
      }),
      text('display', 'The name of the role.', 'r.name'),
      text('type', 'The name of the application.', offered.application),
      {
        name: 'supported',
        type: 'boolean',
        description: 'Whether it can be assigned: always.',
        required: true,
        storage: { kind: 'boolean', value: 'true' },
        ...readOnly,
      },
    ],
  };
}

/** Okta reads only the resource types of this schema, and from them `id`, `displayName` and `description`. */
export const oktaRoleSchema: Schema = {
  id: 'urn:okta:scim:schemas:core:1.0:Role',
  name: 'ApplicationRole',
  description: 'A role of an application, as Okta reads it',
  attributes: [
    text('displayName', 'The name of the role and, in parentheses, of the application.', oktaName(), {
      required: true,
    }),
    text('description', 'The description of the role.', 'r.description'),
  ],
};

function oktaName(): string {
  return `(r.name || ' (' || ${offered.application} || ')')`;
}
