import { Migration } from '@mikro-orm/migrations';

/** The model as it was first released. */
export class Migration20261121000000Initial extends Migration {
  override up(): void {
    this.addSql(
      `create table "budgets" ("id" text not null, "spent" int not null, "resets_at" timestamptz not null, primary key ("id"))`,
    );
    this.addSql(`create index "budgets_resets_at_index" on "budgets" ("resets_at")`);
    this.addSql(
      `create table "projects" ("id" uuid not null, "name" text not null, "built_in" text null, "scim_enabled" boolean not null default true, "scim_authoritative" boolean not null default true, "test_mode" boolean not null default false, "sign_up" text not null default 'open', "mfa_policy" text not null default 'off', "remember_mfa_seconds" int not null default 0, "device_trust_seconds" int not null default 2592000, "idle_timeout_seconds" int not null default 1800, "max_session_seconds" int not null default 28800, "id_token_ttl_seconds" int not null default 60, "access_token_ttl_seconds" int not null default 300, "version" int not null default 1, "created_at" timestamptz not null, "updated_at" timestamptz not null, primary key ("id"))`,
    );
    this.addSql(`alter table "projects" add constraint "projects_built_in_unique" unique ("built_in")`);
    this.addSql(
      `alter table "projects" add constraint "projects_sign_up_check" check ("sign_up" in ('open', 'provisioned_only'))`,
    );
    this.addSql(
      `alter table "projects" add constraint "projects_mfa_policy_check" check ("mfa_policy" in ('off', 'optional', 'required'))`,
    );
    this.addSql(
      `create table "one_time_codes" ("id" uuid not null, "project_id" uuid not null, "ceremony_id" uuid not null, "purpose" text not null, "account" text not null, "jkt" text null, "code_mac" text not null, "attempts" int not null default 0, "created_at" timestamptz not null, "expires_at" timestamptz not null, "used_at" timestamptz null, "replaced_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(`create index "one_time_codes_ceremony_id_index" on "one_time_codes" ("ceremony_id")`);
    this.addSql(`create index "one_time_codes_account_index" on "one_time_codes" ("account")`);
    this.addSql(
      `create table "messages" ("id" uuid not null, "project_id" uuid not null, "channel" text not null, "template" text not null, "recipient" text not null, "sealed_content" bytea null, "locale" text not null, "state" text not null default 'pending', "attempts" int not null default 0, "note" text null, "created_at" timestamptz not null, "sent_at" timestamptz null, "expires_at" timestamptz not null, primary key ("id"))`,
    );
    this.addSql(`create index "messages_project_id_id_index" on "messages" ("project_id", "id")`);
    this.addSql(
      `alter table "messages" add constraint "messages_state_check" check ("state" in ('pending', 'sent', 'suppressed', 'failed'))`,
    );
    this.addSql(
      `create table "clients" ("id" uuid not null, "project_id" uuid not null, "name" text not null, "built_in" text null, "token_endpoint_auth_method" text not null, "jwk" jsonb null, "redirect_uris" text[] not null, "post_logout_redirect_uris" text[] not null, "backchannel_logout_uri" text null, "backchannel_logout_session_required" boolean not null default true, "logout_token_type" text not null default 'secevent', "access_token_ttl_seconds" int null, "disabled_at" timestamptz null, "version" int not null default 1, "created_at" timestamptz not null, "updated_at" timestamptz not null, primary key ("id"))`,
    );
    this.addSql(`alter table "clients" add constraint "clients_built_in_unique" unique ("built_in")`);
    this.addSql(`create index "clients_project_id_id_index" on "clients" ("project_id", "id")`);
    this.addSql(
      `alter table "clients" add constraint "clients_token_endpoint_auth_method_check" check ("token_endpoint_auth_method" in ('none', 'private_key_jwt'))`,
    );
    this.addSql(
      `alter table "clients" add constraint "clients_logout_token_type_check" check ("logout_token_type" in ('secevent', 'logout'))`,
    );
    this.addSql(
      `create table "logout_deliveries" ("id" uuid not null, "project_id" uuid not null, "client_id" uuid not null, "subject" uuid not null, "sid" uuid null, "jti" text not null, "uri" text not null, "state" text not null default 'pending', "attempts" jsonb not null, "next_attempt_at" timestamptz null, "created_at" timestamptz not null, "delivered_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(`create index "logout_deliveries_project_id_id_index" on "logout_deliveries" ("project_id", "id")`);
    this.addSql(
      `alter table "logout_deliveries" add constraint "logout_deliveries_state_check" check ("state" in ('pending', 'delivered', 'failed'))`,
    );
    this.addSql(
      `create table "api_keys" ("id" uuid not null, "client_id" uuid not null, "kind" text not null, "hash" text not null, "hint" text not null, "created_at" timestamptz not null, "last_used_at" timestamptz null, "revoked_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(`create index "api_keys_client_id_index" on "api_keys" ("client_id")`);
    this.addSql(`alter table "api_keys" add constraint "api_keys_hash_unique" unique ("hash")`);
    this.addSql(
      `alter table "api_keys" add constraint "api_keys_kind_check" check ("kind" in ('publishable', 'secret'))`,
    );
    this.addSql(
      `create table "authorization_requests" ("id" uuid not null, "project_id" uuid not null, "client_id" uuid not null, "flow_hash" text not null, "browser_hash" text not null, "redirect_uri" text not null, "scope" text not null, "state" text null, "nonce" text null, "code_challenge" text not null, "login_hint" text null, "hinted_user_id" uuid null, "ui_locales" text null, "setup_link_id" uuid null, "created_at" timestamptz not null, "expires_at" timestamptz not null, "finished_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(
      `alter table "authorization_requests" add constraint "authorization_requests_flow_hash_unique" unique ("flow_hash")`,
    );
    this.addSql(`create index "authorization_requests_expires_at_index" on "authorization_requests" ("expires_at")`);
    this.addSql(
      `create table "audit_events" ("id" uuid not null, "project_id" uuid null, "at" timestamptz not null, "type" text not null, "result" text not null, "actor_kind" text not null, "actor_id" text null, "actor_name" text null, "subject_kind" text null, "subject_id" text null, "subject_name" text null, "client_id" uuid null, "detail" jsonb null, "ip" text null, "user_agent" text null, "request_id" text null, primary key ("id"))`,
    );
    this.addSql(`create index "audit_events_project_id_id_index" on "audit_events" ("project_id", "id")`);
    this.addSql(`create index "audit_events_project_id_type_id_index" on "audit_events" ("project_id", "type", "id")`);
    this.addSql(`create index "audit_events_subject_id_id_index" on "audit_events" ("subject_id", "id")`);
    this.addSql(
      `create table "admin_tokens" ("id" uuid not null, "name" text not null, "hash" text not null, "hint" text not null, "role" text not null, "project_id" uuid null, "created_by_id" uuid null, "created_at" timestamptz not null, "expires_at" timestamptz null, "last_used_at" timestamptz null, "revoked_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(`alter table "admin_tokens" add constraint "admin_tokens_hash_unique" unique ("hash")`);
    this.addSql(
      `alter table "admin_tokens" add constraint "admin_tokens_role_check" check ("role" in ('owner', 'project_admin', 'project_viewer'))`,
    );
    this.addSql(
      `create table "scim_tokens" ("id" uuid not null, "project_id" uuid not null, "name" text not null, "hash" text not null, "hint" text not null, "expires_at" timestamptz null, "created_at" timestamptz not null, "last_used_at" timestamptz null, "revoked_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(`create index "scim_tokens_project_id_index" on "scim_tokens" ("project_id")`);
    this.addSql(`alter table "scim_tokens" add constraint "scim_tokens_hash_unique" unique ("hash")`);
    this.addSql(
      `create table "setup_links" ("id" uuid not null, "hash" text not null, "created_at" timestamptz not null, "expires_at" timestamptz not null, "used_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(`alter table "setup_links" add constraint "setup_links_hash_unique" unique ("hash")`);
    this.addSql(
      `create table "signing_keys" ("id" text not null, "alg" text not null, "public_jwk" jsonb not null, "sealed_private_key" bytea not null, "created_at" timestamptz not null, "signs_from" timestamptz not null, "signs_until" timestamptz null, "published_until" timestamptz null, "withdrawn_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(
      `alter table "signing_keys" add constraint "signing_keys_alg_check" check ("alg" in ('ES512', 'EdDSA'))`,
    );
    this.addSql(
      `create table "used_assertions" ("client_id" uuid not null, "jti_hash" text not null, "forget_at" timestamptz not null, primary key ("client_id", "jti_hash"))`,
    );
    this.addSql(`create index "used_assertions_forget_at_index" on "used_assertions" ("forget_at")`);
    this.addSql(
      `create table "users" ("id" uuid not null, "project_id" uuid not null, "user_name" text not null, "user_name_key" text not null, "external_id" text null, "display_name" text null, "given_name" text null, "family_name" text null, "email" text null, "email_key" text null, "phone" text null, "active" boolean not null default true, "provenance" text not null default 'local', "attributes" jsonb not null default '{}', "version" int not null default 1, "created_at" timestamptz not null, "updated_at" timestamptz not null, "last_sign_in_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(`create index "users_project_id_external_id_index" on "users" ("project_id", "external_id")`);
    this.addSql(`create index "users_project_id_id_index" on "users" ("project_id", "id")`);
    this.addSql(
      `alter table "users" add constraint "users_project_id_user_name_key_unique" unique ("project_id", "user_name_key")`,
    );
    this.addSql(
      `alter table "users" add constraint "users_project_id_email_key_unique" unique ("project_id", "email_key")`,
    );
    this.addSql(`alter table "users" add constraint "users_project_id_phone_unique" unique ("project_id", "phone")`);
    this.addSql(
      `alter table "users" add constraint "users_provenance_check" check ("provenance" in ('local', 'scim'))`,
    );
    this.addSql(
      `create table "sessions" ("id" uuid not null, "project_id" uuid not null, "user_id" uuid not null, "secret_hash" text not null, "device_id" uuid null, "auth_time" timestamptz not null, "amr" text[] not null, "created_at" timestamptz not null, "last_seen_at" timestamptz not null, "idle_expires_at" timestamptz not null, "expires_at" timestamptz not null, "ended_at" timestamptz null, "end_reason" text null, "ip" text null, "user_agent" text null, primary key ("id"))`,
    );
    this.addSql(`create index "sessions_user_id_index" on "sessions" ("user_id")`);
    this.addSql(`alter table "sessions" add constraint "sessions_secret_hash_unique" unique ("secret_hash")`);
    this.addSql(`create index "sessions_expires_at_index" on "sessions" ("expires_at")`);
    this.addSql(
      `create table "participations" ("session_id" uuid not null, "client_id" uuid not null, "first_at" timestamptz not null, "last_at" timestamptz not null, primary key ("session_id", "client_id"))`,
    );
    this.addSql(`create index "participations_client_id_index" on "participations" ("client_id")`);
    this.addSql(
      `create table "recovery_codes" ("id" uuid not null, "user_id" uuid not null, "hash" text not null, "created_at" timestamptz not null, "used_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(`create index "recovery_codes_user_id_index" on "recovery_codes" ("user_id")`);
    this.addSql(`alter table "recovery_codes" add constraint "recovery_codes_hash_unique" unique ("hash")`);
    this.addSql(
      `create table "memberships" ("id" uuid not null, "user_id" uuid not null, "role" text not null, "project_id" uuid null, "created_at" timestamptz not null, primary key ("id"))`,
    );
    this.addSql(`create index "memberships_project_id_index" on "memberships" ("project_id")`);
    this.addSql(
      `alter table "memberships" add constraint "memberships_user_id_project_id_unique" unique ("user_id", "project_id")`,
    );
    this.addSql(
      `alter table "memberships" add constraint "memberships_role_check" check ("role" in ('owner', 'project_admin', 'project_viewer'))`,
    );
    this.addSql(
      `create table "enrolments" ("id" uuid not null, "user_id" uuid not null, "method" text not null, "phone" text null, "sealed_secret" bytea null, "last_step" bigint null, "failures" int not null default 0, "locked_until" timestamptz null, "created_at" timestamptz not null, "verified_at" timestamptz null, "last_used_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(`create index "enrolments_user_id_index" on "enrolments" ("user_id")`);
    this.addSql(
      `alter table "enrolments" add constraint "enrolments_method_check" check ("method" in ('email', 'sms', 'totp'))`,
    );
    this.addSql(
      `create table "devices" ("id" uuid not null, "project_id" uuid not null, "client_id" uuid not null, "user_id" uuid not null, "jkt" text not null, "public_jwk" jsonb not null, "alg" text not null, "name" text not null, "user_agent" text null, "trusted_until" timestamptz null, "mfa_remembered_until" timestamptz null, "created_at" timestamptz not null, "last_used_at" timestamptz not null, "revoked_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(`create index "devices_user_id_index" on "devices" ("user_id")`);
    this.addSql(
      `alter table "devices" add constraint "devices_client_id_user_id_jkt_unique" unique ("client_id", "user_id", "jkt")`,
    );
    this.addSql(
      `create table "ceremonies" ("id" uuid not null, "project_id" uuid not null, "client_id" uuid not null, "request_id" uuid null, "txn_hash" text not null, "nonce_hash" text not null, "nonce_expires_at" timestamptz not null, "state" text not null, "origin" text not null, "jkt" text null, "code_challenge" text null, "address" text null, "user_id" uuid null, "device_id" uuid null, "remember_device" boolean not null default true, "mfa_method" text null, "mfa_session_hash" text null, "amr" text[] not null, "created_at" timestamptz not null, "expires_at" timestamptz not null, "finished_at" timestamptz null, primary key ("id"))`,
    );
    this.addSql(`alter table "ceremonies" add constraint "ceremonies_txn_hash_unique" unique ("txn_hash")`);
    this.addSql(`create index "ceremonies_expires_at_index" on "ceremonies" ("expires_at")`);
    this.addSql(
      `alter table "ceremonies" add constraint "ceremonies_state_check" check ("state" in ('challenged', 'otp_sent', 'otp_verified', 'registered', 'mfa_owed', 'finished'))`,
    );
    this.addSql(
      `alter table "ceremonies" add constraint "ceremonies_mfa_method_check" check ("mfa_method" in ('email', 'sms', 'totp'))`,
    );
    this.addSql(
      `create table "authorization_codes" ("id" uuid not null, "hash" text not null, "client_id" uuid not null, "user_id" uuid not null, "session_id" uuid null, "redirect_uri" text null, "code_challenge" text null, "scope" text not null, "nonce" text null, "auth_time" timestamptz not null, "amr" text[] not null, "created_at" timestamptz not null, "expires_at" timestamptz not null, "used_at" timestamptz null, "revoked_at" timestamptz null, "forget_at" timestamptz not null, primary key ("id"))`,
    );
    this.addSql(`alter table "authorization_codes" add constraint "authorization_codes_hash_unique" unique ("hash")`);
    this.addSql(`create index "authorization_codes_user_id_index" on "authorization_codes" ("user_id")`);
    this.addSql(`create index "authorization_codes_forget_at_index" on "authorization_codes" ("forget_at")`);
    this.addSql(
      `alter table "one_time_codes" add constraint "one_time_codes_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "messages" add constraint "messages_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "clients" add constraint "clients_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "logout_deliveries" add constraint "logout_deliveries_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "logout_deliveries" add constraint "logout_deliveries_client_id_foreign" foreign key ("client_id") references "clients" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "api_keys" add constraint "api_keys_client_id_foreign" foreign key ("client_id") references "clients" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "authorization_requests" add constraint "authorization_requests_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "authorization_requests" add constraint "authorization_requests_client_id_foreign" foreign key ("client_id") references "clients" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "audit_events" add constraint "audit_events_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "admin_tokens" add constraint "admin_tokens_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "scim_tokens" add constraint "scim_tokens_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "users" add constraint "users_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "sessions" add constraint "sessions_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "sessions" add constraint "sessions_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "participations" add constraint "participations_session_id_foreign" foreign key ("session_id") references "sessions" ("id") on update cascade on delete cascade`,
    );
    this.addSql(
      `alter table "participations" add constraint "participations_client_id_foreign" foreign key ("client_id") references "clients" ("id") on update cascade on delete cascade`,
    );
    this.addSql(
      `alter table "recovery_codes" add constraint "recovery_codes_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "memberships" add constraint "memberships_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "memberships" add constraint "memberships_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "enrolments" add constraint "enrolments_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "devices" add constraint "devices_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "devices" add constraint "devices_client_id_foreign" foreign key ("client_id") references "clients" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "devices" add constraint "devices_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "ceremonies" add constraint "ceremonies_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "ceremonies" add constraint "ceremonies_client_id_foreign" foreign key ("client_id") references "clients" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "ceremonies" add constraint "ceremonies_request_id_foreign" foreign key ("request_id") references "authorization_requests" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "ceremonies" add constraint "ceremonies_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "ceremonies" add constraint "ceremonies_device_id_foreign" foreign key ("device_id") references "devices" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "authorization_codes" add constraint "authorization_codes_client_id_foreign" foreign key ("client_id") references "clients" ("id") on delete cascade`,
    );
    this.addSql(
      `alter table "authorization_codes" add constraint "authorization_codes_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade`,
    );
  }
}
