import { OnlineMigration } from './online.ts';

/** APIs for third-party applications (decisions/0394). The previous release issues them no tokens. */
export class Migration20261130009100ThirdPartyAccess extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "apis" add column if not exists "third_party_access" boolean not null default false');
  }
}
