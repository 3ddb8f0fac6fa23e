import { OnlineMigration } from './online.ts';

/** SAML logout over SOAP, and where logout responses go (decisions/0420). */
export class Migration20261130050300SamlBackChannelLogout extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "clients" add column if not exists "saml_logout_response_uri" text,
        add column if not exists "saml_logout_soap_uri" text`,
    );
    await this.alter('alter table "logout_deliveries" add column if not exists "sealed_name_id" bytea');
  }
}
