import { OnlineMigration } from './online.ts';

/** Token exchange (decisions/0410). The previous release issues no such tokens, and introspects them without those that they came from. */
export class Migration20261130043000TokenExchange extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "apis" add column if not exists "token_exchange" boolean not null default false');
    await this.alter('alter table "authorization_codes" add column if not exists "subject_ids" uuid[]');
  }
}
