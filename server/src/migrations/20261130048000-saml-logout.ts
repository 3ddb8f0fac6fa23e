import { OnlineMigration } from './online.ts';

/** The NameID that a SAML application received in a session, for its logout (decisions/0415), and further NameIDs. */
export class Migration20261130048000SamlLogout extends OnlineMigration {
  override async up(): Promise<void> {
    const kinds = `('persistent', 'pairwise', 'email', 'transient', 'attribute')`;
    await this.alter('alter table "participations" add column if not exists "saml_name_id" text');
    await this.alter(
      `alter table "clients" add column if not exists "saml_name_id_attribute" text,
        add column if not exists "saml_salt" text,
        drop constraint if exists "clients_saml_name_id_check",
        add constraint "clients_saml_name_id_check" check ("saml_name_id" in ${kinds}) not valid`,
    );
    await this.execute('alter table "clients" validate constraint "clients_saml_name_id_check"');
  }
}
