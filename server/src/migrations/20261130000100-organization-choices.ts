import { OnlineMigration } from './online.ts';

/** The user who chose the organization of a request (decisions/0384). The previous release has no such choice. */
export class Migration20261130000100OrganizationChoices extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "authorization_requests" add column if not exists "organization_chosen_by" uuid');
  }
}
