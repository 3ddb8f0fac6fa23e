import { OnlineMigration } from './online.ts';

/** DPoP. The previous release redeems a key-bound code without a proof, for a bearer token. */
export class Migration20261123000800Dpop extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "authorization_codes" add column if not exists "dpop_jkt" text null`,
      `alter table "authorization_requests" add column if not exists "dpop_jkt" text null`,
      `alter table "refresh_grants" add column if not exists "dpop_jkt" text null`,
      `alter table "clients" add column if not exists "dpop_required" boolean not null default false,
        add column if not exists "dpop_nonce_required" boolean not null default false`,
    );
  }
}
