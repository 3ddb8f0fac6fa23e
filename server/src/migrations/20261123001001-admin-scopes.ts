import { OnlineMigration } from './online.ts';

/** Scopes of applications at the admin API. The previous release accepts none of their tokens. */
export class Migration20261123001001AdminScopes extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "clients" add column if not exists "admin_scopes" text[] not null default '{}'`);
  }
}
