import { OnlineMigration } from './online.ts';

/** The user of each message: an erasure deletes those to earlier addresses, too. */
export class Migration20261127070000UsersOfMessages extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "messages" add column if not exists "user_id" uuid null`);
    await this.index('messages', 'messages_project_id_user_id_index', '"project_id", "user_id"');
  }
}
