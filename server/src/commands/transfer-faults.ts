/** An error of PostgreSQL in the words of the file. */
export interface DatabaseFault {
  code?: string;
  detail?: string;
  message: string;
  table?: string;
  column?: string;
  constraint?: string;
}

/** Names of unique columns, as the console and the API call them. */
const nouns: Record<string, string> = {
  user_name_key: 'user name',
  email_key: 'email address',
  login_phone: 'phone number',
  external_id: 'external ID',
  subject: 'subject',
  credential_id: 'passkey',
  host: 'domain',
  slug: 'slug',
  identifier: 'API identifier',
  key: 'value',
  hash: 'secret',
};
/** Columns that belong to the key of every row, or are secret. */
const silent = ['project_id', 'hash', 'secret_hash', 'key_hash', 'challenge'];

/**
 * Why rows of this type were refused; null for an error that no value of the file causes.
 *
 * @param type of the records, such as `user`
 */
export function faultInWords(fault: DatabaseFault, type: string): string | null {
  const { code = '', detail = '', message } = fault;
  if (!/^2[123]/.test(code)) return null;
  switch (code) {
    // A statement cannot update one row twice.
    case '21000':
      return 'has the same record twice';
    case '23505':
      return clash(detail, type);
    case '23503':
      return `refers to ${/"(\w+)"\.?$/.exec(detail)?.[1]?.replaceAll('_', ' ') ?? 'a record'} that are not in the file`;
    case '23502':
      return `has a ${type} without ${fault.column ?? 'a required value'}`;
    case '23514':
      return `has a ${type} with values that contradict each other (${fault.constraint ?? 'check'})`;
    case '22P02':
    case '22007':
    case '22008':
    case '22003':
      return `has a ${type} with a value of the wrong format: ${given(message)}`;
    default:
      return `has a ${type} with an invalid value: ${given(message)}`;
  }
}

/** PostgreSQL: `Key (project_id, email_key)=(…, ada@example.com) already exists.` */
function clash(detail: string, type: string): string {
  const [, names = '', values = ''] = /^Key \((.*?)\)=\((.*)\) already exists/.exec(detail) ?? [];
  const columns = names
    .replace(/COALESCE\((\w+), \w+\)/, '$1')
    .split(', ')
    .map((name) => name.replace(/^.*?(\w+)(?:::\w+)?\)?$/, '$1'));
  const all = values.split(', ');
  const shown = columns.findLast((name) => !silent.includes(name) && name in nouns);
  const named = shown ?? columns.findLast((name) => name !== 'project_id');
  const noun = (named && nouns[named]) ?? named?.replaceAll('_', ' ') ?? 'value';
  const value = shown && all.length === columns.length ? `: ${all[columns.indexOf(shown)]}` : '';
  return `has the ${noun} of another ${type} of this instance${value}`;
}

/** The value that PostgreSQL quotes, without its sentence. */
function given(message: string): string {
  const text = message.split(' - ').at(-1) ?? message;
  return (/: (".*")$/s.exec(text)?.[1] ?? text).slice(0, 200);
}
