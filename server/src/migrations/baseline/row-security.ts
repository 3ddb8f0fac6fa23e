const instanceId = '00000000-0000-0000-0000-000000000000';
const ofRequest = `current_setting('latchkey.project', true)`;
/** Compared as text: an index is chosen by the condition of the statement, not by the policy. */
const ofProject = `project_id::text = ${ofRequest}`;
const ofProjectOrInstance = `coalesce(project_id::text, 'none') = ${ofRequest}`;
/** Each project may record an event of the instance. */
const ofEvents = `project_id::text in (${ofRequest}, '${instanceId}')`;

/** Tenant tables with rows that do not belong to exactly one project. */
const others: Readonly<Record<string, readonly string[]>> = {
  audit_log: [`project on audit_log using (${ofEvents})`],
  audit_events: [`project on audit_events using (${ofEvents})`],
  audit_log_rest: [`project on audit_log_rest using (${ofEvents})`],
  repeated_refusals: [`project on repeated_refusals using (${ofEvents})`],
  admin_tokens: [`project on admin_tokens using (${ofProjectOrInstance})`],
  log_streams: [`project on log_streams using (${ofProjectOrInstance})`],
  memberships: [`project on memberships using (${ofProjectOrInstance} or ${ofRequest} = user_project_id::text)`],
  // Whether any project has verified a host.
  verified_hosts: [
    'lookup on verified_hosts for select using (true)',
    `project on verified_hosts using (${ofProject} or project_id is null or released_at is not null) with check (${ofProject})`,
  ],
};

/** Tables of the instance. */
const withoutProject = [
  'activity_progress',
  'budgets',
  'idempotent_requests',
  'projects',
  'setup_links',
  'signing_keys',
];
const ofInstance = [...withoutProject, 'retired_mac_keys', 'processes', 'backups', 'retention_progress', 'migrations'];

/**
 * Row security: a role that owns no table sees the rows of one project. The owner of the tables sees all.
 *
 * @param tables all tables
 */
export function rowSecurity(tables: readonly string[]): string[] {
  return tables
    .filter((table) => !ofInstance.includes(table))
    .flatMap((table) => [
      `alter table ${table} enable row level security`,
      ...(others[table] ?? [`project on ${table} using (${ofProject})`]).map((policy) => `create policy ${policy}`),
    ]);
}
