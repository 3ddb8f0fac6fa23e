import { Migration } from '@mikro-orm/migrations';

/** Changes of the phone number: their sign-ins, and numbers that wait for a code. */
export class Migration20261121001300Phone extends Migration {
  override up(): void {
    this.addSql(`alter table "ceremonies" add column "step_up" text null`);
    this.addSql(`alter table "ceremonies" drop constraint "ceremonies_state_check"`);
    this.addSql(
      `alter table "ceremonies" add constraint "ceremonies_state_check" check ("state" in ('challenged', 'otp_sent', 'otp_verified', 'registered', 'mfa_owed', 'mfa_initiated', 'stepped_up', 'phone_code_sent', 'finished'))`,
    );
    this.addSql(
      `alter table "ceremonies" add constraint "ceremonies_step_up_check" check ("step_up" in ('change_phone_number'))`,
    );
    this.addSql(
      `create table "phone_changes" ("id" uuid not null, "user_id" uuid not null, "bound_to" uuid not null, "phone" text not null, "created_at" timestamptz not null, "expires_at" timestamptz not null, primary key ("id"))`,
    );
    this.addSql(`create index "phone_changes_user_id_index" on "phone_changes" ("user_id")`);
    this.addSql(`alter table "phone_changes" add constraint "phone_changes_bound_to_unique" unique ("bound_to")`);
    this.addSql(`create index "phone_changes_expires_at_index" on "phone_changes" ("expires_at")`);
    this.addSql(
      `alter table "phone_changes" add constraint "phone_changes_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade`,
    );
  }
}
