import { OnlineMigration } from './online.ts';

/** Indexes by an id alone, of tables that no statement reads by an id alone. */
const formerKeys = [
  ...['ceremonies', 'authorization_codes', 'authorization_requests', 'one_time_codes', 'enrolments', 'recovery_codes'],
  ...['factor_changes', 'phone_changes', 'messages', 'scim_request_records', 'experience_versions'],
].map((table) => `${table}_id_previous`);

/**
 * Drops indexes that only the release before tenant keys needed, so that a sign-in writes fewer entries. Two indexes of
 * sign-ins leave out the rows that have no value yet.
 */
export class Migration20261123029000AfterTenantKeys extends OnlineMigration {
  override async up(): Promise<void> {
    const started = '"project_id", "address") where ("address" is not null';
    await this.index('ceremonies', 'ceremonies_project_id_started_address_index', started);
    const proved = '"account_id") where ("account_id" is not null';
    await this.index('ceremonies', 'ceremonies_proved_account_id_index', proved);
    const replaced = ['ceremonies_project_id_address_index', 'ceremonies_account_id_index'];
    for (const name of [...replaced, ...formerKeys]) await this.alter(`drop index if exists "${name}"`);
  }
}
