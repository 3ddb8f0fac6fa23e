import { OnlineMigration } from './online.ts';

const methods = `'none', 'private_key_jwt', 'client_secret_basic', 'client_secret_post'`;
const algorithms = `'ES512', 'ES256', 'RS256', 'EdDSA'`;

/** Client secrets, further keys and algorithms, and authorization requests without PKCE. The previous release writes none. */
export class Migration20261123000302ClientCredentials extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "clients" add column if not exists "jwk_set" jsonb null, add column if not exists "jwks_uri" text null,
        add column if not exists "id_token_signed_response_alg" text not null default 'ES512',
        add column if not exists "pkce_optional" boolean not null default false`,
    );
    await this.check('clients', 'token_endpoint_auth_method', methods);
    await this.check('clients', 'id_token_signed_response_alg', algorithms);
    await this.check('signing_keys', 'alg', `'ES512', 'EdDSA', 'ES256', 'RS256'`);
    await this.alter(
      `alter table "authorization_requests" alter column "code_challenge" drop not null,
        add column if not exists "response_mode" text null`,
      `create table if not exists "client_secrets" ("project_id" uuid not null, "id" uuid not null,
        "client_id" uuid not null, "hash" text not null, "hint" text not null, "created_at" timestamptz not null,
        "last_used_at" timestamptz null, "revoked_at" timestamptz null, primary key ("project_id", "id"))`,
      `create index if not exists "client_secrets_hash_index" on "client_secrets" ("hash")`,
      `create index if not exists "client_secrets_project_id_client_id_index" on "client_secrets" ("project_id", "client_id")`,
      `alter table "client_secrets" enable row level security`,
      `drop policy if exists "project" on "client_secrets"`,
      `create policy "project" on "client_secrets" using (project_id::text in (current_setting('latchkey.project', true)))`,
    );
    await this.foreignKey('client_secrets', ['project_id', 'client_id'], 'clients', ['project_id', 'id']);
  }

  private async check(table: string, column: string, values: string): Promise<void> {
    const name = `${table}_${column}_check`;
    await this.alter(
      `alter table "${table}" drop constraint if exists "${name}"`,
      `alter table "${table}" add constraint "${name}" check ("${column}" in (${values})) not valid`,
    );
    await this.execute(`alter table "${table}" validate constraint "${name}"`);
  }
}
