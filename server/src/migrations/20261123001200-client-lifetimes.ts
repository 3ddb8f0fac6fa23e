import { OnlineMigration } from './online.ts';

/** Lifetimes of refresh tokens per client. The previous release ignores them. */
export class Migration20261123001200ClientLifetimes extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "clients" add column if not exists "refresh_token_ttl_seconds" int null,
        add column if not exists "refresh_token_idle_seconds" int null`,
    );
  }
}
