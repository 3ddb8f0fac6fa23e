import { OnlineMigration } from './online.ts';

/**
 * Requests may ask for an authentication context class, and codes store the one to return. Pages of a client can use
 * passkeys. A device key of the hosted page is for all clients of the project.
 */
export class Migration20261122000800PasskeyUse extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "authorization_requests" add column if not exists "acr_values" text[] null,
        add column if not exists "acr_essential" boolean not null default false`,
      `alter table "clients" add column if not exists "related_origins" boolean not null default false`,
      `alter table "credentials" add column if not exists "hosted" boolean null default false`,
      `alter table "authorization_codes" add column if not exists "acr" text null`,
    );
  }
}
