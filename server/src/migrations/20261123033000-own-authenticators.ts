import { OnlineMigration } from './online.ts';

/** Sign-ins that start the setup of an authenticator app on the account page (decisions/0180). */
export class Migration20261123033000OwnAuthenticators extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "authorization_requests" add column if not exists "adds_authenticator" boolean not null default false`,
    );
  }
}
