import { OnlineMigration } from './online.ts';

/** Records of SCIM requests name the attributes that were ignored. */
export class Migration20261123001402IgnoredAttributes extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "scim_request_records" add column if not exists "ignored" text[] null`);
  }
}
