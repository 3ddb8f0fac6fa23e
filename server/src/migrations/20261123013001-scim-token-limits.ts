import { OnlineMigration } from './online.ts';

/** Networks of SCIM tokens, where they were used, and the warnings before they expire. */
export class Migration20261123013001ScimTokenLimits extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "scim_tokens"
        add column if not exists "networks" text[] not null default '{}',
        add column if not exists "last_used_address" text null,
        add column if not exists "network_refused_at" timestamptz null,
        add column if not exists "warned_days" int null`,
    );
  }
}
