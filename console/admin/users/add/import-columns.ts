import type { CustomAttributeRowFragment, NewUserInput } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { optionsOf } from '../../ui/forms/options.ts';
import { type CsvRow, fromCell } from './csv.ts';

const attributes = {
  email: t('Email address'),
  userName: t('User name'),
  displayName: t('Name'),
  givenName: t('Given name'),
  familyName: t('Family name'),
  phone: t('Phone'),
  locale: t('Language'),
  zoneinfo: t('Time zone'),
  birthdate: t('Date of birth'),
} as const;
type Attribute = keyof typeof attributes;

/** An attribute that a column can hold; `custom.<name>` for custom attributes. */
export interface Target {
  value: string;
  label: string;
  custom?: CustomAttributeRowFragment;
}

/** So that a row fits into a request of 64 KB. */
const maxRowLength = 16_000;
/** Separates the values of an attribute that has several. */
const valueSeparator = '|';

/** All attributes that columns can hold. Complex ones do not fit into a cell. */
export function targetsOf(custom: readonly CustomAttributeRowFragment[]): Target[] {
  return [
    ...optionsOf(attributes),
    ...custom
      .filter(({ type }) => type !== 'COMPLEX')
      .map((one) => ({ value: `custom.${one.name}`, label: t('{name} (custom)', { name: one.name }), custom: one })),
  ];
}

/** Further headings of files: of our export, SCIM, OpenID Connect, Google, Microsoft and spreadsheets. */
const synonyms: Record<Attribute, readonly string[]> = {
  email: ['email', 'emailaddress', 'mail', 'workemail', 'primaryemail', 'emails', 'emailaddressrequired'],
  userName: ['username', 'login', 'userprincipalname', 'preferredusername', 'account'],
  displayName: ['displayname', 'name', 'fullname', 'formattedname'],
  givenName: ['givenname', 'firstname', 'first', 'vorname', 'firstnamerequired', 'forename'],
  familyName: ['familyname', 'lastname', 'surname', 'last', 'nachname', 'lastnamerequired'],
  phone: ['phone', 'phonenumber', 'mobile', 'mobilephone', 'telephone', 'cell'],
  locale: ['locale', 'language', 'lang', 'preferredlanguage', 'sprache'],
  zoneinfo: ['zoneinfo', 'timezone', 'tz'],
  birthdate: ['birthdate', 'dateofbirth', 'birthday', 'dob', 'geburtsdatum'],
};

/** The attribute of each column by its heading; '' for none. Each attribute is used once. */
export function guessedColumns(header: readonly string[], targets: readonly Target[]): string[] {
  const used = new Set<string>();
  return header.map((heading) => {
    const name = plain(heading);
    const target = targets.find(({ value, custom }) => {
      if (used.has(value)) return false;
      if (custom) return [custom.name, `custom.${custom.name}`, custom.alias ?? ''].some((one) => plain(one) === name);
      return synonyms[value as Attribute].includes(name);
    });
    if (target) used.add(target.value);
    return name === '' || !target ? '' : target.value;
  });
}

const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

export interface ImportRow {
  line: number;
  input: NewUserInput;
}

/** A line that is not imported. */
export interface RefusedLine {
  line: number;
  /** The attribute, by the name of its column. */
  field: string | null;
  reason: string;
}

export interface Prepared {
  rows: ImportRow[];
  refused: RefusedLine[];
}

/** Rows with the attributes of their columns. Refuses broken lines, and repeated logins. @param body without the header */
export function prepare(body: readonly CsvRow[], columns: readonly string[], targets: readonly Target[]): Prepared {
  const byValue = new Map(targets.map((target) => [target.value, target]));
  const seen = new Map<string, number>();
  const prepared: Prepared = { rows: [], refused: [] };
  for (const { line, cells, fault } of body) {
    const refuse = (reason: string, field: string | null = null) => prepared.refused.push({ line, field, reason });
    if (fault !== undefined) {
      refuse(fault);
      continue;
    }
    if (cells.length > columns.length && cells.slice(columns.length).some((cell) => cell.trim() !== '')) {
      refuse(t('Has {cells} cells; the header has {columns}', { cells: cells.length, columns: columns.length }));
      continue;
    }
    const input = inputOf(cells, columns, byValue);
    const login = (input.email ?? input.userName)?.normalize('NFC').toLowerCase();
    const before = login === undefined ? undefined : seen.get(login);
    if (before !== undefined) {
      refuse(t('Repeats line {before}', { before }), labelOf(input.email ? 'email' : 'userName', targets));
      continue;
    }
    if (JSON.stringify(input).length > maxRowLength) {
      refuse(t('Is too long'));
      continue;
    }
    // The API refuses the whole request for it.
    if (cells.some((cell) => cell.includes('\0'))) {
      refuse(t('Has a NUL character'));
      continue;
    }
    if (login !== undefined) seen.set(login, line);
    prepared.rows.push({ line, input });
  }
  return prepared;
}

function inputOf(
  cells: readonly string[],
  columns: readonly string[],
  targets: ReadonlyMap<string, Target>,
): NewUserInput {
  const custom: { name: string; value: unknown }[] = [];
  const profile: Partial<Record<Attribute, string>> = {};
  for (const [at, column] of columns.entries()) {
    const target = targets.get(column);
    const value = fromCell(cells[at] ?? '');
    if (!target || value === '') continue;
    if (target.custom) custom.push({ name: target.custom.name, value: customValue(target.custom, value) });
    else profile[column as Attribute] = value;
  }
  return { ...profile, ...(custom.length > 0 ? { custom } : {}) };
}

function customValue({ multiValued }: CustomAttributeRowFragment, text: string): unknown {
  if (!multiValued) return text;
  return text
    .split(valueSeparator)
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** The label of a refused field of the API: `email`, or a custom attribute after its URN. */
export function labelOf(field: string, targets: readonly Target[]): string {
  const name = field.includes(':') ? `custom.${field.slice(field.lastIndexOf(':') + 1).split('.')[0]}` : field;
  return targets.find(({ value }) => value === name)?.label ?? field;
}
