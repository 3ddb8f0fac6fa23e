import { OnlineMigration } from './online.ts';

/** The directory token that a portal link issued (decisions/0418). */
export class Migration20261130044200PortalDirectories extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "portal_links" add column if not exists "scim_token_id" uuid');
  }
}
