import type { CreateCustomAttributeInput, CustomAttributeRowFragment, CustomType } from '../generated/operations.ts';
import { t } from '../language/language.ts';

export const typeNames: Record<CustomType, string> = {
  STRING: t('Text'),
  BOOLEAN: t('Yes or no'),
  INTEGER: t('Integer'),
  DECIMAL: t('Decimal'),
  DATE_TIME: t('Date and time'),
  REFERENCE: t('Reference (URI)'),
  COMPLEX: t('Complex'),
};

export function typeText({ type, multiValued, subAttributes }: CustomAttributeRowFragment): string {
  const parts = subAttributes.length > 0 ? ` (${subAttributes.map(({ name }) => name).join(', ')})` : '';
  return `${typeNames[type]}${parts}${multiValued ? `, ${t('several values')}` : ''}`;
}

/** The characteristics that are not the default. */
export function traitsOf(attribute: CustomAttributeRowFragment): string[] {
  const { required, mutability, returned, uniqueness, indexed, visibleTo } = attribute;
  return [
    ...(required ? ['required'] : []),
    ...(uniqueness === 'SERVER' ? ['unique'] : []),
    ...(indexed ? ['indexed'] : []),
    ...{ READ_WRITE: [], READ_ONLY: [t('set by admins')], IMMUTABLE: [t('set once')], WRITE_ONLY: [t('write-only')] }[
      mutability
    ],
    ...{
      DEFAULT: [],
      ALWAYS: [t('always returned')],
      REQUEST: [t('returned on request')],
      NEVER: [t('never returned')],
    }[returned],
    ...(visibleTo.includes('APPLICATIONS') ? [t('in claims')] : []),
    ...(visibleTo.includes('USER') ? [t('shown to the user')] : []),
  ];
}

/** A definition for an ignored attribute of a request; undefined for a part of another attribute. */
export function definitionFor(
  ignored: string,
  requestBody: string | null | undefined,
): Omit<CreateCustomAttributeInput, 'projectId'> | undefined {
  const [, name] = /^(?:urn:[A-Za-z0-9_:.-]+:)?([A-Za-z$][A-Za-z0-9$_-]*)$/i.exec(ignored) ?? [];
  if (name === undefined) return undefined;
  const value = valueIn(parsed(requestBody), ignored, name);
  const one: unknown = Array.isArray(value) ? value[0] : value;
  const type = typeof one === 'boolean' ? 'BOOLEAN' : typeof one === 'number' ? numberType(one) : 'STRING';
  return { name: name.replaceAll('$', ''), type, multiValued: Array.isArray(value), alias: ignored };
}

const numberType = (value: number) => (Number.isInteger(value) ? 'INTEGER' : 'DECIMAL');

function parsed(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/** The first value under one of the names, or in an operation with such a path. */
function valueIn(body: unknown, full: string, name: string): unknown {
  if (typeof body !== 'object' || body === null) return undefined;
  const { path, value } = body as { path?: unknown; value?: unknown };
  if (path === full) return value;
  for (const [key, each] of Object.entries(body)) {
    if (key === full || key === name) return each;
    const found = valueIn(each, full, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
