import { OnlineMigration } from './online.ts';

/** Consents in an organization (decisions/0406). The previous release, while both run, asks for none. */
export class Migration20261130045000ConsentsInOrganizations extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "consents" add column if not exists "organization_ids" uuid[] not null default '{}'`);
  }
}
