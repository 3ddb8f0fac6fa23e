import { OnlineMigration } from './online.ts';

/**
 * Lanes of messages, and indexes by which the relay finds the projects with due messages and logout tokens
 * (decisions/0320). Messages of the previous release are in the lane of notices.
 */
export class Migration20261128170000TurnsOfDeliveries extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "messages" add column if not exists "lane" smallint not null default 1`);
    await this.backfill('messages', {
      set: 'next_attempt_at = t.created_at',
      where: `t.state = 'pending' and t.next_attempt_at is null`,
    });
    await this.index(
      'messages',
      'messages_turns_index',
      `"lane", "project_id", "next_attempt_at") where ("state" = 'pending'`,
    );
    await this.index(
      'logout_deliveries',
      'logout_deliveries_turns_index',
      `(case when attempts = '[]' then 0 else 1 end), "project_id", "client_id", "next_attempt_at") where ("state" = 'pending'`,
    );
  }
}
