import { isLine } from '../../kernel/name.ts';
import { invalid, refuse } from '../../kernel/problem.ts';
import {
  audiences,
  type CustomAttribute,
  type CustomPart,
  customTypes,
  mutabilities,
  returnedValues,
  uniquenesses,
} from './custom-schema.entity.ts';

/** The schema extension of custom attributes. Microsoft Entra ID maps only names of this form. */
export const customUrn = 'urn:ietf:params:scim:schemas:extension:latchkey:2.0:User';

export type CustomAttributeInput = Pick<CustomAttribute, 'name' | 'type'> &
  Partial<Omit<CustomAttribute, 'subAttributes'>> & {
    subAttributes?: readonly (Pick<CustomPart, 'name' | 'type'> & Partial<CustomPart>)[];
  };

export const customLimits = { attributes: 100, parts: 20, bytes: 8192, values: 500, keyCharacters: 512 } as const;

const maxName = 64;
const maxDescription = 500;
const maxAlias = 300;
/** Common attributes (RFC 7643 §3.1), words of filters, and members of every JavaScript object. */
const reserved = [
  ...['schemas', 'id', 'externalid', 'meta', 'not', 'and', 'or', 'pr', 'true', 'false', 'null'],
  ...[
    'constructor',
    'hasownproperty',
    'isprototypeof',
    'propertyisenumerable',
    'tolocalestring',
    'tostring',
    'valueof',
  ],
];

/** The definition to store. Refuses `invalid`, naming the field. */
export function checkedDefinition(input: CustomAttributeInput): CustomAttribute {
  const { type, multiValued = false, mutability = 'readWrite', visibleTo = [], alias = null } = input;
  const { required = false, uniqueness = 'none', indexed = false } = input;
  const isWriteOnly = mutability === 'writeOnly';
  const { returned = isWriteOnly ? 'never' : 'default' } = input;
  checkName(input.name, 'name');
  oneOf('type', type, customTypes);
  oneOf('mutability', mutability, mutabilities);
  oneOf('returned', returned, returnedValues);
  oneOf('uniqueness', uniqueness, uniquenesses);
  for (const [field, value] of Object.entries({ multiValued, required, indexed })) {
    if (typeof value !== 'boolean') invalid(field, 'must be true or false');
  }
  if (!Array.isArray(visibleTo)) invalid('visibleTo', 'must be a list');
  const parts = checkedParts(type, input.subAttributes ?? []);
  const isSecret = returned === 'never';
  if (isWriteOnly && !isSecret) invalid('returned', 'must be never: the attribute is writeOnly');
  if (required && mutability === 'readOnly') invalid('required', 'must be false: directories cannot write it');
  const isKey = indexed || uniqueness === 'server';
  if (isKey && ['boolean', 'complex'].includes(type)) {
    invalid(indexed ? 'indexed' : 'uniqueness', `cannot be set for an attribute of type ${type}`);
  }
  if (isKey && isSecret)
    invalid(indexed ? 'indexed' : 'uniqueness', 'cannot be set for an attribute that is never returned');
  // Claims, their preview in the console, and the account page would show it.
  if (isSecret && visibleTo.length > 0) invalid('visibleTo', 'must be empty: the attribute is never returned');
  return {
    name: input.name,
    description: checkedDescription(input.description ?? '', 'description'),
    ...{ type, multiValued, required, caseExact: caseExactOf(type, input.caseExact), mutability, returned, uniqueness },
    ...{ indexed, visibleTo: audiences.filter((each) => visibleTo.includes(each)), alias: checkedAlias(alias) },
    subAttributes: parts,
  };
}

function oneOf(field: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) invalid(field, `must be one of ${allowed.join(', ')}`);
}

/** The parts that stored values depend on: they cannot change while users have values. */
export function shapeOf({ type, multiValued, caseExact, uniqueness, indexed, subAttributes }: CustomAttribute): object {
  const parts = subAttributes.map((part) => ({ name: part.name, type: part.type, caseExact: part.caseExact }));
  return { type, multiValued, caseExact, uniqueness, indexed, parts };
}

/** Refuses `taken` if another attribute has the name or the alias, ignoring case. */
export function checkNames(attributes: readonly CustomAttribute[]): void {
  for (const field of ['name', 'alias'] as const) {
    const names = attributes.flatMap((attribute) => attribute[field]?.toLowerCase() ?? []);
    if (new Set(names).size < names.length) refuse({ code: 'taken', what: 'custom-attribute', field });
  }
}

/** Only text has a case. */
function caseExactOf(type: CustomAttribute['type'], caseExact = false): boolean {
  return type === 'string' ? caseExact : type === 'reference' || type === 'dateTime';
}

function checkedParts(
  type: CustomAttribute['type'],
  inputs: NonNullable<CustomAttributeInput['subAttributes']>,
): CustomPart[] {
  const field = 'subAttributes';
  if (type !== 'complex') {
    if (inputs.length > 0) invalid(field, 'must be empty: the attribute is not complex');
    return [];
  }
  if (inputs.length === 0) invalid(field, 'must not be empty: the attribute is complex');
  if (inputs.length > customLimits.parts) invalid(field, `must have at most ${customLimits.parts} entries`);
  const parts = inputs.map((part, index): CustomPart => {
    const at = `${field}[${index}]`;
    checkName(part.name, `${at}.name`);
    return {
      name: part.name,
      type: part.type,
      description: checkedDescription(part.description ?? '', `${at}.description`),
      caseExact: caseExactOf(part.type, part.caseExact),
    };
  });
  for (const [index, { name }] of parts.entries()) {
    const first = parts.findIndex((other) => other.name.toLowerCase() === name.toLowerCase());
    if (first < index) invalid(`${field}[${index}].name`, 'occurs twice');
  }
  return parts;
}

/** Names appear in filters, URLs and JSON, so they are plain (RFC 7643 §2.1). */
function checkName(name: unknown, field: string): void {
  if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_-]*$/.test(name)) {
    invalid(field, 'must begin with a letter, and contain only letters, digits, _ and -');
  }
  if (name.length > maxName) invalid(field, `must have at most ${maxName} characters`);
  if (reserved.includes(name.toLowerCase())) invalid(field, 'is reserved');
}

function checkedDescription(text: unknown, field: string): string {
  if (typeof text !== 'string' || !isLine(text)) invalid(field, 'must be one line of text');
  if ([...text].length > maxDescription) invalid(field, `must have at most ${maxDescription} characters`);
  return text.trim();
}

function checkedAlias(alias: string | null): string | null {
  if (alias === null || alias === '') return null;
  const field = 'alias';
  if (typeof alias !== 'string' || !/^(?:urn:[A-Za-z0-9_:.-]+:)?[A-Za-z$][A-Za-z0-9$_-]*$/i.test(alias)) {
    invalid(field, 'must be the name of an attribute, alone or after the URN of a schema and a colon');
  }
  if (alias.length > maxAlias) invalid(field, `must have at most ${maxAlias} characters`);
  const isOwn = alias.toLowerCase().startsWith(`${customUrn.toLowerCase()}:`);
  if (isOwn || reserved.includes(alias.toLowerCase())) invalid(field, 'is reserved');
  if (/(^|:)password$/i.test(alias)) invalid(field, 'must not be password, which is never stored');
  return alias;
}
