import { OnlineMigration } from './online.ts';

/** The network that a client was first seen from. Clients from before the column have none. */
export class Migration20261130049000NetworksOfIntroductions extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "client_introductions" add column if not exists "network" text');
  }
}
