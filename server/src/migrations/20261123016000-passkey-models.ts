import { OnlineMigration } from './online.ts';

/** Allowed models of passkeys, and the root that proved a model (decisions/0134). */
export class Migration20261123016000PasskeyModels extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "projects" add column if not exists "passkey_aaguids" text[] not null default '{}',
        add column if not exists "passkey_roots" text[] not null default '{}'`,
    );
    await this.alter(`alter table "credentials" add column if not exists "attested_root" text null`);
  }
}
