import { OnlineMigration } from './online.ts';

/** The kind of an application, for the console's instructions; and publishable keys, which are not secret. */
export class Migration20261123021501ClientKinds extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "clients" add column if not exists "kind" text null`,
      `alter table "clients" drop constraint if exists "clients_kind_check"`,
      `alter table "clients" add constraint "clients_kind_check" check ("kind" in ('single-page', 'web-server', 'native')) not valid`,
    );
    await this.execute('alter table "clients" validate constraint "clients_kind_check"');
    await this.alter(`alter table "api_keys" add column if not exists "value" text null`);
  }
}
