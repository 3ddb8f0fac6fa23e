import { OnlineMigration } from './online.ts';

/** The time since which name servers have not answered for a verified domain. The previous release writes none. */
export class Migration20261128164500UnansweredDomains extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "custom_domains" add column if not exists "unanswered_since" timestamptz null`);
  }
}
