import { OnlineMigration } from './online.ts';

/**
 * Applications of kind SAML, and the keys that projects sign their assertions with (decisions/0390). The previous release serves
 * SAML applications as public clients without PKCE, which it refuses: create the first after the last process has been updated.
 */
export class Migration20261130006000SamlApplications extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "clients" add column if not exists "saml_entity_id" text,
        add column if not exists "saml_name_id" text not null default 'persistent'
          constraint "clients_saml_name_id_check" check ("saml_name_id" in ('persistent', 'email', 'transient')),
        add column if not exists "saml_signed" text not null default 'both'
          constraint "clients_saml_signed_check" check ("saml_signed" in ('both', 'assertion', 'response')),
        add column if not exists "saml_certificates" text[] not null default '{}',
        add column if not exists "saml_encryption_certificate" text,
        add column if not exists "saml_logout_uri" text,
        add column if not exists "saml_requests_signed" boolean not null default false,
        add column if not exists "saml_idp_initiated" boolean not null default false`,
      `create table if not exists "saml_keys" (
        project_id uuid not null, id uuid not null, certificate bytea not null, sealed_private_key bytea not null,
        created_at timestamptz not null, signs_from timestamptz not null, published_until timestamptz,
        constraint saml_keys_pkey primary key (project_id, id),
        constraint saml_keys_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
      )`,
      'alter table saml_keys enable row level security',
      'drop policy if exists project on saml_keys',
      `create policy project on saml_keys using (project_id::text = current_setting('latchkey.project', true))`,
    );
    await this.index('clients', 'clients_project_id_saml_entity_id_unique', '"project_id", "saml_entity_id"', true);
  }
}
