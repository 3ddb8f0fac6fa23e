/** A column that is exported only encrypted with the passphrase. */
interface SecretColumn {
  column: string;
  /** Vault purpose of the encrypted column; undefined: the column is plain text in the database. */
  purpose?: string;
}

type Parent = 'project' | 'client' | 'user' | 'group' | 'role' | 'api' | 'organization' | 'organization-membership';

/** A table whose rows are exported with their project. The fields in the file are its columns. */
export interface TransferTable {
  type: string;
  table: string;
  /** Foreign key to the owning record, and its type. */
  parent: { column: string; type: Parent } | null;
  key: readonly string[];
  /** SQL condition for exported rows; `t` is the table. */
  where?: string;
  /** Additional condition when secrets are left out; undefined: all rows. */
  withoutSecrets?: string;
  /** Columns left out: `built_in` belongs to the instance, and counters restart. */
  omit?: readonly string[];
  secrets?: readonly SecretColumn[];
  /** Derived from other records: an import computes it, and releases before this one need it in the file. */
  isDerived?: true;
  /** For rows that are deleted when they end: SQL condition for the audit event `a` that ended row `n` of the file. */
  endedBy?: string;
  /** Whether an existing row stays unchanged. */
  keepsOwn?: boolean;
}

export const childOf = (type: Parent) => ({ column: `${type}_id`, type });
