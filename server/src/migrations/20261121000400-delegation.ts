import { Migration } from '@mikro-orm/migrations';

/** Delegation: the keys of both sides, used requests, and pending changes of factors. */
export class Migration20261121000400Delegation extends Migration {
  override up(): void {
    this.addSql(
      `create table "delegation_keys" ("id" uuid not null, "client_id" uuid not null, "party" text not null, "signing_kid" text not null, "encryption_kid" text not null, "signing_public_pem" text not null, "encryption_public_pem" text not null, "sealed_signing_key" bytea null, "sealed_encryption_key" bytea null, "created_at" timestamptz not null, "expires_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(
      `alter table "delegation_keys" add constraint "delegation_keys_client_id_party_encryption_kid_unique" unique ("client_id", "party", "encryption_kid")`,
    );
    this.addSql(
      `alter table "delegation_keys" add constraint "delegation_keys_party_check" check ("party" in ('sp', 'idp'))`,
    );
    this.addSql(
      `alter table "delegation_keys" add constraint "delegation_keys_client_id_foreign" foreign key ("client_id") references "clients" ("id") on delete cascade`,
    );

    this.addSql(
      `create table "used_delegation_requests" ("client_id" uuid not null, "jti_hash" text not null, "forget_at" timestamptz not null, primary key ("client_id", "jti_hash"))`,
    );
    this.addSql(`create index "used_delegation_requests_forget_at_index" on "used_delegation_requests" ("forget_at")`);

    this.addSql(
      `create table "factor_changes" ("id" uuid not null, "session_hash" text not null, "client_id" uuid not null, "user_id" uuid not null, "enrolment_id" uuid not null, "attempts" int not null default 0, "created_at" timestamptz not null, "expires_at" timestamptz not null, "finished_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(
      `alter table "factor_changes" add constraint "factor_changes_session_hash_unique" unique ("session_hash")`,
    );
    this.addSql(`create index "factor_changes_client_id_index" on "factor_changes" ("client_id")`);
    this.addSql(`create index "factor_changes_user_id_index" on "factor_changes" ("user_id")`);
    this.addSql(`create index "factor_changes_expires_at_index" on "factor_changes" ("expires_at")`);
    this.addSql(
      `alter table "factor_changes" add constraint "factor_changes_client_id_foreign" foreign key ("client_id") references "clients" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "factor_changes" add constraint "factor_changes_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade`,
    );
  }
}
