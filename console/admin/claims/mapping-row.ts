import type { ClaimList, ClaimMappingInput, ClaimMappingPartsFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';

export type Source = 'attribute' | 'template' | 'list' | 'constant';

/** A mapping in the form: the values of all sources, of which one is chosen. */
export interface MappingRow {
  claim: string;
  /** Empty: always. */
  scope: string;
  source: Source;
  attribute: string;
  template: string;
  of: ClaimList;
  prefix: string;
  removePrefix: boolean;
  /** Text, or JSON for other values. */
  constant: string;
}

export const newRow: MappingRow = {
  claim: '',
  scope: '',
  source: 'attribute',
  attribute: 'userName',
  template: '',
  of: 'GROUPS',
  prefix: '',
  removePrefix: false,
  constant: '',
};

export const sourceNames: Record<Source, string> = {
  attribute: t('Attribute'),
  template: t('Template'),
  list: t('List'),
  constant: t('Constant'),
};

export const listNames: Record<ClaimList, string> = {
  GROUPS: t('Groups'),
  ROLES: t('Roles of the application'),
  DIRECTORY_ROLES: t('Roles of the directory'),
  ENTITLEMENTS: t('Entitlements of the directory'),
  EMAILS: t('Email addresses'),
};

export const scopes = ['openid', 'profile', 'email', 'phone', 'address', 'groups', 'roles'] as const;

export function rowOf({ claim, scope, attribute, template, list, constant }: ClaimMappingPartsFragment): MappingRow {
  const row = { ...newRow, claim, scope: scope ?? '' };
  if (attribute != null) return { ...row, attribute };
  if (template != null) return { ...row, source: 'template', template };
  if (list) return { ...row, source: 'list', ...list };
  return { ...row, source: 'constant', constant: constantText(constant) };
}

export function mappingOf(row: MappingRow): ClaimMappingInput {
  const { source, attribute, template, of, prefix, removePrefix, constant } = row;
  const sources: Record<Source, Partial<ClaimMappingInput>> = {
    attribute: { attribute },
    template: { template },
    list: { list: { of, prefix, removePrefix } },
    constant: { constant: constantOf(constant) },
  };
  return { claim: row.claim.trim(), scope: row.scope || null, ...sources[source] };
}

/** A mapping as one line of text. */
export function textOf(row: MappingRow): string {
  const sources: Record<Source, string> = {
    attribute: row.attribute,
    template: row.template,
    list: row.prefix
      ? t('{list} that begin with {prefix}', { list: listNames[row.of], prefix: row.prefix })
      : listNames[row.of],
    constant: row.constant,
  };
  return `${row.claim} ← ${sources[row.source]}${row.scope && ` (${row.scope})`}`;
}

function constantText(value: unknown): string {
  return typeof value === 'string' && constantOf(value) === value ? value : JSON.stringify(value);
}

/** Numbers, true, false, lists and quoted text are JSON; all else is text. */
function constantOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value === null || (typeof value === 'object' && !Array.isArray(value)) ? text : value;
  } catch {
    return text;
  }
}
