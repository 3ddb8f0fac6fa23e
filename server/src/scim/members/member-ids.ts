import { foldCase } from '../../domain/users/login.ts';
import type { Resource } from '../patch.ts';
import { isObject } from '../patch-operations.ts';
import { attributeNamed, isReadOnly } from '../schema/attribute.ts';
import { groupType } from '../schema/resource-type.ts';
import { invalid, readSingle } from '../schema/values.ts';

/** The ids in a list of members. Also accepts a single member and bare ids. */
export function memberIds(value: unknown): string[] {
  const members = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
  return members.map((member) => {
    if (isObject(member)) checkTypes(member);
    const key = isObject(member) ? Object.keys(member).find((name) => foldCase(name) === 'value') : undefined;
    const id = key === undefined ? member : (member as Resource)[key];
    if (typeof id !== 'string' || id === '')
      throw invalid('members', 'must each have the id of a user or group as value');
    return id;
  });
}

/** Address and type of a member follow from its id; its other values must only have the type of the schema. */
function checkTypes(member: Resource): void {
  const parts = attributeNamed(groupType.schema.attributes, 'members')?.subAttributes;
  for (const [name, value] of Object.entries(member)) {
    const part = attributeNamed(parts, name);
    if (part && !isReadOnly(part)) readSingle(part, value, `members.${part.name}`);
  }
}
