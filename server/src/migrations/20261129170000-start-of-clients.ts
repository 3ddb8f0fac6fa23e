import { OnlineMigration } from './online.ts';

/** Where users open an application. */
export class Migration20261129170000StartOfClients extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "clients" add column if not exists "start_uri" text');
  }
}
