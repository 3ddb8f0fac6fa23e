import { OnlineMigration } from './online.ts';

/** Marks factors that a user with a passkey added by mail code alone (decisions/0133). */
export class Migration20261123014000FactorsBesidePasskeys extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "enrolments" add column if not exists "beside_passkey" boolean not null default false`,
    );
  }
}
