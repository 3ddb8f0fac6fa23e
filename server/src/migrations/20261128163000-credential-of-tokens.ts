import { OnlineMigration } from './online.ts';

/** The credential that obtained an access token. The previous release writes none, and its tokens live at most an hour. */
export class Migration20261128163000CredentialOfTokens extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "authorization_codes" add column if not exists "credential" text null`);
  }
}
