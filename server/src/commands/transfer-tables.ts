import { type Fragment, sql } from '../domain/kernel/sql.ts';

/** A column that is exported only encrypted with the passphrase. */
interface SecretColumn {
  column: string;
  /** Vault purpose of the encrypted column; undefined: the column is plain text in the database. */
  purpose?: string;
}

/** A table whose rows are exported with their project. The fields in the file are its columns. */
export interface TransferTable {
  type: string;
  table: string;
  /** Foreign key to the owning record, and its type. */
  parent: { column: string; type: 'project' | 'client' | 'user' | 'group' | 'role' | 'api' } | null;
  key: readonly string[];
  /** SQL condition for exported rows; `t` is the table. */
  where?: string;
  /** Additional condition when secrets are left out; undefined: all rows. */
  withoutSecrets?: string;
  /** Columns left out: `built_in` belongs to the instance, and counters restart. */
  omit?: readonly string[];
  secrets?: readonly SecretColumn[];
  /** Follows from other records: an import computes it, and releases before this one need it in the file. */
  isDerived?: true;
  /** For rows that are deleted when they end: SQL condition for the audit event `a` that ended row `n` of the file. */
  endedBy?: string;
  /** Whether an existing row stays as it is. */
  keepsOwn?: boolean;
}

/** All exported tables, parents before children. */
export const transferTables: readonly TransferTable[] = [
  { type: 'project', table: 'projects', parent: null, key: ['id'], omit: ['built_in'] },
  { type: 'client', table: 'clients', parent: of('project'), key: ['id'], omit: ['built_in'] },
  {
    type: 'api-key',
    table: 'api_keys',
    parent: of('client'),
    key: ['id'],
    where: 't.revoked_at is null',
    withoutSecrets: 'false',
    secrets: [{ column: 'hash' }],
  },
  {
    type: 'client-secret',
    table: 'client_secrets',
    parent: of('client'),
    key: ['id'],
    where: 't.revoked_at is null',
    withoutSecrets: 'false',
    secrets: [{ column: 'hash' }],
  },
  {
    type: 'delegation-key',
    table: 'delegation_keys',
    parent: of('client'),
    key: ['id'],
    withoutSecrets: `t.party = 'sp'`,
    secrets: [
      { column: 'sealed_signing_key', purpose: 'delegation-signing-key' },
      { column: 'sealed_encryption_key', purpose: 'delegation-encryption-key' },
    ],
  },
  {
    type: 'scim-token',
    table: 'scim_tokens',
    parent: of('project'),
    key: ['id'],
    where: 't.revoked_at is null',
    withoutSecrets: 'false',
    secrets: [{ column: 'hash' }],
  },
  { type: 'api', table: 'apis', parent: of('project'), key: ['id'] },
  { type: 'api-grant', table: 'api_grants', parent: of('api'), key: ['client_id', 'api_id'] },
  {
    type: 'custom-domain',
    table: 'custom_domains',
    parent: of('project'),
    key: ['id'],
    // Each instance verifies domains itself.
    omit: ['state', 'fault', 'checked_at', 'verified_at', 'missing_since', 'unanswered_since', 'warned_at'],
  },
  { type: 'logo', table: 'logos', parent: of('project'), key: ['id'] },
  { type: 'experience', table: 'experience_versions', parent: of('project'), key: ['id'] },
  { type: 'user', table: 'users', parent: of('project'), key: ['id'] },
  { type: 'suspension', table: 'suspensions', parent: of('user'), key: ['user_id'], keepsOwn: true },
  { type: 'user-email', table: 'user_emails', parent: of('user'), key: ['user_id', 'value_key'], isDerived: true },
  { type: 'custom-schema', table: 'custom_schemas', parent: of('project'), key: ['project_id'] },
  {
    type: 'custom-value',
    table: 'custom_values',
    parent: of('user'),
    key: ['user_id', 'attribute', 'key'],
    isDerived: true,
  },
  { type: 'group', table: 'groups', parent: of('project'), key: ['id'] },
  { type: 'group-member', table: 'group_members', parent: of('group'), key: ['group_id', 'user_id'] },
  { type: 'group-nesting', table: 'group_nestings', parent: of('group'), key: ['group_id', 'member_id'] },
  { type: 'role', table: 'client_roles', parent: of('client'), key: ['id'] },
  { type: 'role-assignment', table: 'role_assignments', parent: of('role'), key: ['id'] },
  { type: 'access-rule', table: 'access_rules', parent: of('client'), key: ['id'] },
  { type: 'claim-settings', table: 'claim_settings', parent: of('client'), key: ['client_id'] },
  { type: 'device', table: 'credentials', parent: of('user'), key: ['id'], where: 't.revoked_at is null' },
  {
    type: 'enrolment',
    table: 'enrolments',
    parent: of('user'),
    key: ['id'],
    where: 't.verified_at is not null',
    withoutSecrets: `t.method <> 'totp'`,
    omit: ['failures', 'locked_until'],
    secrets: [{ column: 'sealed_secret', purpose: 'totp' }],
    endedBy: `a.type in ('mfa.changed', 'user.handed_over') or (a.type = 'mfa.removed' and a.detail->>'method' = n.method)`,
  },
  {
    type: 'recovery-code',
    table: 'recovery_codes',
    parent: of('user'),
    key: ['id'],
    where: 't.used_at is null',
    withoutSecrets: 'false',
    secrets: [{ column: 'hash' }],
    // New codes delete the earlier ones.
    endedBy: `a.type in ('mfa.enrolled', 'mfa.changed', 'mfa.removed', 'mfa.recovery_codes_renewed', 'user.handed_over')`,
  },
];

/**
 * Columns that an import merges instead of overwriting, as SQL of the stored and the given value: an older file cannot restore
 * an ended credential, and counters never decrease.
 */
export const lasting: Readonly<Record<string, (own: Fragment, given: Fragment) => Fragment>> = {
  revoked_at: (own, given) => sql`coalesce(${own}, ${given})`,
  used_at: (own, given) => sql`coalesce(${own}, ${given})`,
  suspended_at: (own, given) => sql`coalesce(${own}, ${given})`,
  // Revoking a delegation key sets only this. `least` and `greatest` ignore nulls.
  expires_at: (own, given) => sql`least(${own}, ${given})`,
  last_step: (own, given) => sql`greatest(${own}, ${given})`,
  sign_count: (own, given) => sql`greatest(${own}, ${given})`,
  mfa_remembered_at: (own) => own,
  mfa_remembered_until: (own) => own,
};

/** Record with a MAC key of recovery codes: `{"masterKey": …, "key": {"sealed": …}}`. */
export const macKeyType = 'mac-key';

function of(type: 'project' | 'client' | 'user' | 'group' | 'role' | 'api') {
  return { column: `${type}_id`, type };
}

/** The rows of one project, as SQL after `from`. */
export function rowsOfProject({ table, parent }: TransferTable, projectId: string): Fragment {
  const column = parent === null ? 'id' : 'project_id';
  return sql`${sql.table(table)} t where ${sql.ref(`t.${column}`)} = ${projectId}`;
}
