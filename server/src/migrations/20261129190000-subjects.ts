import { OnlineMigration } from './online.ts';

/**
 * `sub` of the former system (decisions/0375). The previous release, while both run, writes the id as `sub`: create users with a
 * subject after the last process has been updated.
 */
export class Migration20261129190000Subjects extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      'alter table "users" add column if not exists "subject" text',
      'alter table "logout_deliveries" add column if not exists "sub" text',
    );
    const columns = '"project_id", "subject"';
    await this.index('users', 'users_project_id_subject_unique', columns, true, 'btree', '"subject" is not null');
  }
}
