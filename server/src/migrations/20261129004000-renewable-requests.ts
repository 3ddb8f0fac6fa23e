import { OnlineMigration } from './online.ts';

/** Requests that the previous release stores while both run do not begin again: it does not say whether they were pushed. */
export class Migration20261129004000RenewableRequests extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      'alter table "authorization_requests" add column if not exists "renewable" boolean not null default false',
    );
  }
}
