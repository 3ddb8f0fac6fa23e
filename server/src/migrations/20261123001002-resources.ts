import { OnlineMigration } from './online.ts';

/** The APIs of codes and refresh tokens. The previous release issues access tokens for UserInfo in their place. */
export class Migration20261123001002Resources extends OnlineMigration {
  override async up(): Promise<void> {
    const column = `add column if not exists "resources" text[] not null default '{}'`;
    for (const table of ['authorization_codes', 'refresh_grants', 'authorization_requests']) {
      await this.alter(`alter table "${table}" ${column}`);
    }
  }
}
