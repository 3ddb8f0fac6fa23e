import { OnlineMigration } from './online.ts';

/** Logos of applications: ids of `logos`. The previous release, while both run, may delete one that only an application uses. */
export class Migration20261130003500LogosOfClients extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "clients" add column if not exists "logo_id" text');
  }
}
