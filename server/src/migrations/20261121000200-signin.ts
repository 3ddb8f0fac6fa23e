import { Migration } from '@mikro-orm/migrations';

/** State of the sign-in flow. */
export class Migration20261121000200Signin extends Migration {
  override up(): void {
    this.addSql(`alter table "ceremonies" drop constraint "ceremonies_state_check"`);
    this.addSql(
      `alter table "ceremonies" add column "enrolment_id" uuid null, add column "mfa_attempts" int not null default 0`,
    );
    this.addSql(
      `alter table "ceremonies" add constraint "ceremonies_state_check" check ("state" in ('challenged', 'otp_sent', 'otp_verified', 'registered', 'mfa_owed', 'mfa_initiated', 'finished'))`,
    );
    this.addSql(`alter table "enrolments" add column "device_id" uuid null`);
    this.addSql(`alter table "devices" add column "remembered" boolean not null default true`);
  }
}
