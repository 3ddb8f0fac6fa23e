import { OnlineMigration } from './online.ts';

/** The lifetime of a client's ID tokens. The previous release uses that of the project. */
export class Migration20261128161500IdTokenLifetime extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "clients" add column if not exists "id_token_ttl_seconds" int null`);
  }
}
