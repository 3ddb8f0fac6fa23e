import { invalid } from '../kernel/problem.ts';
import { attributeNames, isAttribute } from './attributes.ts';
import { claimNameFault } from './claim-names.ts';
import {
  type ClaimList,
  type ClaimMapping,
  type Constant,
  claimLists,
  type ListFilter,
} from './claim-settings.entity.ts';

/** The scopes that applications can request at the project issuer. */
const applicationScopes = ['openid', 'profile', 'email', 'phone', 'address', 'groups', 'roles'] as const;

/** A mapping as entered by an admin; null means absent. */
export interface MappingInput {
  claim: string;
  scope?: string | null | undefined;
  attribute?: string | null | undefined;
  constant?: unknown;
  template?: string | null | undefined;
  list?:
    | { of: ClaimList; prefix?: string | null | undefined; removePrefix?: boolean | null | undefined }
    | null
    | undefined;
}

const mappingLimits = {
  mappings: 30,
  templateCharacters: 256,
  constantBytes: 1024,
  prefixCharacters: 100,
} as const;

const placeholder = /\$\{([^{}]*)\}/g;

/** Refuses `invalid`, naming the parameter, e.g. `mappings[2].claim`. */
export function checkedMappings(inputs: readonly MappingInput[]): ClaimMapping[] {
  if (!Array.isArray(inputs)) invalid('mappings', 'must be a list');
  if (inputs.length > mappingLimits.mappings)
    invalid('mappings', `must have at most ${mappingLimits.mappings} entries`);
  const mappings = inputs.map((input, index) => checkedMapping(input, `mappings[${index}]`));
  for (const [index, { claim }] of mappings.entries()) {
    if (mappings.findIndex((other) => other.claim === claim) < index) {
      invalid(`mappings[${index}].claim`, 'is mapped twice');
    }
  }
  return mappings;
}

function checkedMapping(input: MappingInput, field: string): ClaimMapping {
  if (typeof input !== 'object' || input === null) invalid(field, 'must be an object');
  const { claim, scope = null, attribute, constant, template, list } = input;
  const fault = claimNameFault(claim);
  if (fault !== null) invalid(`${field}.claim`, fault);
  if (scope !== null && !(applicationScopes as readonly unknown[]).includes(scope)) {
    invalid(`${field}.scope`, `must be one of ${applicationScopes.join(', ')}`);
  }
  const sources = [attribute, constant, template, list].filter((source) => source != null);
  if (sources.length !== 1) invalid(field, 'must have exactly one of attribute, constant, template and list');
  if (attribute != null) {
    if (!isAttribute(attribute)) {
      invalid(`${field}.attribute`, `must be custom.NAME or one of ${attributeNames.join(', ')}`);
    }
    return { claim, scope, attribute };
  }
  if (template != null) return { claim, scope, template: checkedTemplate(template, `${field}.template`) };
  if (list != null) return { claim, scope, list: checkedList(list, `${field}.list`) };
  return { claim, scope, constant: checkedConstant(constant, `${field}.constant`) };
}

function checkedTemplate(template: string, field: string): string {
  if (typeof template !== 'string' || template.trim() === '') invalid(field, 'must not be blank');
  const { templateCharacters } = mappingLimits;
  if (template.length > templateCharacters) invalid(field, `must have at most ${templateCharacters} characters`);
  for (const [, name = ''] of template.matchAll(placeholder)) {
    if (!isAttribute(name)) invalid(field, `names an unknown attribute: ${name || '(empty)'}`);
  }
  if (template.replace(placeholder, '').includes('${')) invalid(field, 'has a placeholder without its closing brace');
  return template;
}

/** The attributes that a template names. */
export function namesIn(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, name = '']) => name);
}

/**
 * The text with each `${attribute}` replaced by its value. A value is never read as a template. Undefined if an attribute
 * has no value.
 */
export function filledTemplate(template: string, valueOf: (name: string) => string | undefined): string | undefined {
  let isComplete = true;
  const text = template.replace(placeholder, (_, name: string) => {
    const value = valueOf(name);
    if (value === undefined) isComplete = false;
    return value ?? '';
  });
  return isComplete ? text : undefined;
}

function checkedConstant(value: unknown, field: string): Constant {
  const isScalar =
    ['string', 'boolean'].includes(typeof value) || (typeof value === 'number' && Number.isFinite(value));
  const isList = Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  if (!isScalar && !isList) invalid(field, 'must be text, a number, true, false or a list of texts');
  const { constantBytes } = mappingLimits;
  if (Buffer.byteLength(JSON.stringify(value)) > constantBytes)
    invalid(field, `must have at most ${constantBytes} bytes`);
  return value as Constant;
}

function checkedList(list: NonNullable<MappingInput['list']>, field: string): ListFilter {
  const { of, prefix, removePrefix } = list;
  if (!claimLists.includes(of)) invalid(`${field}.of`, `must be one of ${claimLists.join(', ')}`);
  return { of, prefix: checkedPrefix(prefix ?? '', `${field}.prefix`), removePrefix: removePrefix === true };
}

/** Refuses `invalid` for a prefix that is too long. */
export function checkedPrefix(prefix: string, field: string): string {
  const { prefixCharacters } = mappingLimits;
  if (typeof prefix !== 'string') invalid(field, 'must be text');
  if (prefix.length > prefixCharacters) invalid(field, `must have at most ${prefixCharacters} characters`);
  return prefix;
}
