import { OnlineMigration } from './online.ts';

const states = [
  ...[
    'challenged',
    'otp_sent',
    'otp_verified',
    'registered',
    'mfa_owed',
    'mfa_initiated',
    'passkey_owed',
    'stepped_up',
  ],
  ...['phone_code_sent', 'finished'],
];

/**
 * Passkeys as a policy of a project or a client. The previous release reads and writes `passkeys` only: both columns
 * together are the policy. It refuses every step of a sign-in in the new state.
 */
export class Migration20261123000100PasskeyPolicy extends OnlineMigration {
  override async up(): Promise<void> {
    const [known] = await this.execute(
      `select 1 from information_schema.columns where table_name = 'projects' and column_name = 'passkey_policy'
         and table_schema = current_schema()`,
    );
    if (!known) {
      await this.alter(
        `alter table "projects" add column "passkey_policy" text not null default 'allowed'
          constraint "projects_passkey_policy_check" check ("passkey_policy" in ('off', 'allowed', 'preferred', 'required'))`,
        `update "projects" set "passkey_policy" = 'off' where not "passkeys"`,
      );
    }
    await this.alter(
      `alter table "clients" add column if not exists "passkey_required" boolean not null default false`,
      `alter table "sessions" add column if not exists "passkey_id" uuid null`,
    );
    await this.alter(
      `alter table "ceremonies" drop constraint if exists "ceremonies_state_check"`,
      `alter table "ceremonies" add constraint "ceremonies_state_check"
        check ("state" in (${states.map((state) => `'${state}'`).join(', ')})) not valid`,
    );
    await this.execute(`alter table "ceremonies" validate constraint "ceremonies_state_check"`);
  }
}
