import { OnlineMigration } from './online.ts';

/**
 * A directory for each organization (decisions/0401). The previous release, while both run, serves the project's directory and sees in it
 * what organizations have: issue their tokens after the last process has been updated.
 */
export class Migration20261130041100DirectoriesOfOrganizations extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "groups" add column if not exists "organization_id" uuid');
    await this.alter('alter table "scim_tokens" add column if not exists "organization_id" uuid');
    await this.alter('alter table "scim_request_records" add column if not exists "organization_id" uuid');
    await this.alter('alter table "custom_values" add column if not exists "organization_id" uuid');
    await this.foreignKey('groups', ['project_id', 'organization_id'], 'organizations', ['project_id', 'id']);
    await this.foreignKey('scim_tokens', ['project_id', 'organization_id'], 'organizations', ['project_id', 'id']);
    await this.index('organizations', 'organizations_id_index', '"id"');
    const isOf = '"organization_id" is not null';
    const ofHome = '"project_id", "organization_id", "id"';
    await this.index('groups', 'groups_project_id_organization_id_id_index', ofHome, false, 'btree', isOf);
    await this.index('scim_tokens', 'scim_tokens_project_id_organization_id_index', '"project_id", "organization_id"');
    const ofRecord = '"project_id", coalesce("organization_id", "project_id"), "id"';
    await this.index('scim_request_records', 'scim_request_records_of_directory_index', ofRecord);
    await this.uniqueValues();
    await this.alter(
      'alter table "users" add column if not exists "withheld_email_key" text, add column if not exists "withheld_phone" text',
    );
    const home = 'coalesce("organization_id", "project_id")';
    for (const [name, column] of [
      ['users_withheld_email_unique', 'withheld_email_key'],
      ['users_withheld_phone_unique', 'withheld_phone'],
    ] as const) {
      const ofWithheld = `"project_id", "${column}", ${home}`;
      await this.index('users', name, ofWithheld, true, 'btree', `"${column}" is not null`);
    }
  }

  /** Values are unique at a home. */
  private async uniqueValues(): Promise<void> {
    const name = 'custom_values_project_id_attribute_key_unique';
    const [known] = await this.execute(
      `select 1 from pg_indexes where indexname = '${name}' and indexdef not ilike '%organization_id%'`,
    );
    if (!known) return;
    const columns = '"project_id", "attribute", "key", coalesce("organization_id", "project_id")';
    await this.index('custom_values', 'custom_values_of_home', columns, true, 'btree', '"is_unique"');
    await this.alter(`drop index "${name}"`, `alter index "custom_values_of_home" rename to "${name}"`);
  }
}
