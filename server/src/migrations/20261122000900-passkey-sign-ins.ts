import { OnlineMigration } from './online.ts';

/** Sign-ins with a passkey, per day. The previous release has no such sign-ins, so the default of 0 is correct. */
export class Migration20261122000900PasskeySignIns extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "activity_days" add column if not exists "sign_ins_with_passkeys" int not null default 0`,
    );
  }
}
