import { OnlineMigration } from './online.ts';

/** The time from which a message may be sent. Null, as in messages of the previous release: immediately. */
export class Migration20261123000700Messages extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "messages" add column if not exists "next_attempt_at" timestamptz null`);
    await this.index('messages', 'messages_pending_index', `"next_attempt_at") where ("state" = 'pending'`);
  }
}
