import { OnlineMigration } from './online.ts';

/** The time at which admins were warned of a domain whose checks fail. The previous release writes none. */
export class Migration20261128204500WarnedDomains extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "custom_domains" add column if not exists "warned_at" timestamptz null`);
  }
}
