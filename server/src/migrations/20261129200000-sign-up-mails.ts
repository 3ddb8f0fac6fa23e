import { OnlineMigration } from './online.ts';

/**
 * Mails about requests to sign up, and their lifetime (decisions/0351). The previous release, while both run, writes requests that
 * wait for their mail and end after 30 days.
 */
export class Migration20261129200000SignUpMails extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "projects"
        add column if not exists "sign_up_mails" boolean not null default true,
        add column if not exists "sign_up_request_days" int not null default 30`,
      'alter table "sign_up_requests" add column if not exists "announced_at" timestamptz',
    );
  }
}
