import { OnlineMigration } from './online.ts';

const instanceId = '00000000-0000-0000-0000-000000000000';
const project = `current_setting('latchkey.project', true)`;

/** Policies that row security lacked; the owner of the tables, as which the previous release connects, sees all rows. */
export class Migration20261128032000RowSecurityOfRights extends OnlineMigration {
  override async up(): Promise<void> {
    // Rows of the instance have no project; the scope of a request about the instance is `none`.
    const own = `coalesce(project_id::text, 'none')`;
    for (const table of ['admin_tokens', 'log_streams']) {
      await this.secure(table, `create policy "project" on "${table}" using (${own} = ${project})`);
    }
    // The project of the admins sees the rights of its users.
    await this.secure(
      'memberships',
      `create policy "project" on "memberships" using (${project} in (${own}, user_project_id::text))`,
    );
    // Which project holds a host is public. A project takes only a host that it holds, or no project.
    await this.secure(
      'verified_hosts',
      `create policy "project" on "verified_hosts" for all
        using (project_id::text = ${project} or project_id is null or released_at is not null)
        with check (project_id::text = ${project})`,
      'drop policy if exists "lookup" on "verified_hosts"',
      `create policy "lookup" on "verified_hosts" for select using (true)`,
    );
    // Statements on the log apply the policy of the log; those on a partition apply that of the partition.
    const partitions = await this.execute(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = '"audit_log"'::regclass order by 1`,
    );
    for (const row of partitions) {
      const name = String(row['name']);
      await this.secure(
        name,
        `create policy "project" on "${name}" using (project_id::text in (${project}, '${instanceId}'))`,
      );
    }
  }

  private secure(table: string, ...statements: string[]): Promise<void> {
    return this.alter(
      `alter table "${table}" enable row level security`,
      `drop policy if exists "project" on "${table}"`,
      ...statements,
    );
  }
}
