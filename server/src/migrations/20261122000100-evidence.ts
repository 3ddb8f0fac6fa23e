import { Migration } from '@mikro-orm/migrations';

/**
 * Sign-in from evidence. The columns that the previous release writes (`user_id`, `device_id` and `amr` of ceremonies) stay
 * until the next one. A ceremony's account follows from its evidence, so no statement can set it.
 */
export class Migration20261122000100Evidence extends Migration {
  override up(): void {
    this.addSql('create sequence "moments"');
    this.addSql(`alter table "projects" add column "email_factor" boolean not null default true,
      add column "device_trust_days" int not null default 180, add column "sms_countries" text[] not null default '{}',
      add column "sms_per_day" int not null default 1000`);
    this.addSql(`alter table "clients" add column "pkce_required" boolean not null default false`);
    this.addSql(`alter table "devices" add column "registered_at" timestamptz null,
      add column "mfa_remembered_at" timestamptz null`);
    this.addSql(`alter table "enrolments" add column "ceremony_id" uuid null`);
    this.addSql(`alter table "sessions" add column "fresh_at" timestamptz null,
      add column "moment" bigint not null default nextval('moments')`);
    this.addSql(`alter table "authorization_requests" add column "person_required" boolean not null default false,
      add column "moment" bigint not null default nextval('moments')`);
    this.addSql(`alter table "one_time_codes" add column "user_id" uuid null, add column "client_id" uuid null,
      add column "address" text null, add column "sent_to" text null,
      add column "format" text not null default 'short', add column "requester_known" boolean not null default false`);
    this.addSql(`alter table "ceremonies" add column "evidence" jsonb not null default '[]'`);
    this.addSql(`alter table "ceremonies" add column "account_id" uuid
      generated always as ((evidence -> 0 ->> 'account')::uuid) stored`);
    this.addSql(`alter table "ceremonies" add constraint "ceremonies_account_id_foreign"
      foreign key ("account_id") references "users" ("id") on delete cascade`);
    this.addSql('create index "ceremonies_account_id_index" on "ceremonies" ("account_id")');
    this.addSql(`create table "known_networks" (
      "user_id" uuid not null constraint "known_networks_user_id_foreign" references "users" ("id") on delete cascade,
      "network" text not null, "last_at" timestamptz not null, primary key ("user_id", "network"))`);
  }
}
