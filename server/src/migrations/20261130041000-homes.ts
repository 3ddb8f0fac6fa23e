import { OnlineMigration } from './online.ts';

const name = 'users_project_id_user_name_key_unique';

/**
 * Homes of users (decisions/0400). The previous release, while both run, creates users at home in the project; for it, the index has the
 * name of the constraint that it replaces.
 */
export class Migration20261130041000Homes extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "users" add column if not exists "organization_id" uuid');
    await this.uniqueNames();
    const columns = '"project_id", "organization_id", "id"';
    const ofHome = 'users_project_id_organization_id_id_index';
    await this.index('users', ofHome, columns, false, 'btree', '"organization_id" is not null');
    // Not `cascade`: a deletion of an organization says what happens to its people.
    await this.alter(
      'alter table "users" drop constraint if exists "users_project_id_organization_id_foreign"',
      `alter table "users" add constraint "users_project_id_organization_id_foreign" foreign key (project_id, organization_id)
        references "organizations" (project_id, id) not valid`,
    );
    await this.execute('alter table "users" validate constraint "users_project_id_organization_id_foreign"');
  }

  /** Names are unique at a home. An index instead of the constraint: null, the project, is one home. */
  private async uniqueNames(): Promise<void> {
    const [constraint] = await this.execute(
      `select 1 from pg_constraint where conrelid = 'users'::regclass and conname = '${name}'`,
    );
    if (!constraint) return;
    const columns = '"project_id", "user_name_key", coalesce("organization_id", "project_id")';
    await this.index('users', 'users_user_name_key_of_home', columns, true);
    await this.alter(
      `alter table "users" drop constraint "${name}"`,
      `alter index "users_user_name_key_of_home" rename to "${name}"`,
    );
  }
}
