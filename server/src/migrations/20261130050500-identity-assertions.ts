import { OnlineMigration } from './online.ts';

/** Identity assertions (decisions/0425). The previous release issues and accepts none, and introspects the tokens that they gave as any other. */
export class Migration20261130050500IdentityAssertions extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "clients" add column if not exists "cross_app_access" jsonb');
    await this.alter(
      'alter table "connections" add column if not exists "accepts_assertions" boolean not null default false',
    );
    await this.alter('alter table "authorization_codes" add column if not exists "connection_id" uuid');
  }
}
