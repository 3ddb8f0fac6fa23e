import { OnlineMigration } from './online.ts';

/** Counts the replacements of an unused refresh token. The previous release ends a grant whose count is not 0 if it gets a replaced token. */
export class Migration20261128033000RenewedRefreshTokens extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "refresh_grants" add column if not exists "renewals" int not null default 0');
  }
}
