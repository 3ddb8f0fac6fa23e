import { OnlineMigration } from './online.ts';

/** Messages that expired unsent. The previous release reads and writes them as failed. */
export class Migration20261123019000ExpiredMessages extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "messages" add column if not exists "expired" boolean not null default false`);
  }
}
