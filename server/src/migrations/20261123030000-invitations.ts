import { OnlineMigration } from './online.ts';

/** The time at which users were invited, and an index of those who have not signed in since. */
export class Migration20261123030000Invitations extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "users" add column if not exists "invited_at" timestamptz null`);
    const isOpen = '"invited_at" is not null and "last_sign_in_at" is null';
    await this.index('users', 'users_invited_index', '"project_id", "id"', false, 'btree', isOpen);
  }
}
