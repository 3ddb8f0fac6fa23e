import { OnlineMigration } from './online.ts';

const instanceId = '00000000-0000-0000-0000-000000000000';

/** Tables of tenants: those with a project that is part of their key. */
const tenantTables = `select c.relname as name from pg_class c
  join pg_index i on i.indrelid = c.oid and i.indisprimary
  join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and a.attname = 'project_id'
  order by 1`;

/**
 * Row security: a role that owns no table sees the rows of one project. The owner of the tables sees all; the previous
 * release connects as the owner.
 */
export class Migration20261122000500RowSecurity extends OnlineMigration {
  override async up(): Promise<void> {
    for (const row of await this.execute(tenantTables)) {
      const name = String(row['name']);
      // Each project may record an event of the instance.
      const own = ['audit_log', 'repeated_refusals'].includes(name) ? `, '${instanceId}'` : '';
      await this.alter(
        `alter table "${name}" enable row level security`,
        `drop policy if exists "project" on "${name}"`,
        // Compared as text: an index is chosen by the condition of the statement, not by the policy.
        `create policy "project" on "${name}" using (project_id::text in (current_setting('latchkey.project', true)${own}))`,
      );
    }
  }
}
