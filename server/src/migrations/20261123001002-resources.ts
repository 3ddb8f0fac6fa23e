import { OnlineMigration } from './online.ts';

/** The APIs that codes and refresh tokens are for. The previous release gives tokens for UserInfo for them. */
export class Migration20261123001002Resources extends OnlineMigration {
  override async up(): Promise<void> {
    const column = `add column if not exists "resources" text[] not null default '{}'`;
    for (const table of ['authorization_codes', 'refresh_grants', 'authorization_requests']) {
      await this.alter(`alter table "${table}" ${column}`);
    }
  }
}
