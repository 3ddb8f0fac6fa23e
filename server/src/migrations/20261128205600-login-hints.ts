import { OnlineMigration } from './online.ts';

/** Whether hints of a client's requests are checked against the session. The previous release ignores it. */
export class Migration20261128205600LoginHints extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "clients" add column if not exists "login_hint_checked" boolean not null default true`,
    );
  }
}
