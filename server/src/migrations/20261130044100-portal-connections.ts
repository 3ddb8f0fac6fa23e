import { OnlineMigration } from './online.ts';

/** The connection that a portal link sets up (decisions/0418). */
export class Migration20261130044100PortalConnections extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "portal_links" add column if not exists "connection_id" uuid');
  }
}
