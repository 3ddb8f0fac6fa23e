import { OnlineMigration } from './online.ts';

/** Metadata of SAML applications that is read daily, and the end of their certificates (decisions/0421). */
export class Migration20261130050310SamlMetadataOfApplications extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "clients"
        add column if not exists "saml_metadata_url" text,
        add column if not exists "saml_metadata_checked_at" timestamptz,
        add column if not exists "saml_metadata_fault" text,
        add column if not exists "saml_certificate_expires_at" timestamptz,
        add column if not exists "saml_warned_days" int`,
      'alter table "clients" drop constraint if exists clients_saml_metadata_fault_check',
      `alter table "clients" add constraint clients_saml_metadata_fault_check
        check (saml_metadata_fault in ('unreachable', 'invalid', 'entity-id', 'certificates')) not valid`,
    );
    await this.execute('alter table "clients" validate constraint clients_saml_metadata_fault_check');
  }
}
