import { OnlineMigration } from './online.ts';

/** Indexes by an id alone, of tables that no statement reads by an id alone. */
const formerKeys = [
  ...['ceremonies', 'authorization_codes', 'authorization_requests', 'one_time_codes', 'enrolments', 'recovery_codes'],
  ...['factor_changes', 'phone_changes', 'messages', 'scim_request_records', 'experience_versions'],
].map((table) => `${table}_id_previous`);

/** Triggers that filled `project_id`, by table. */
const filled = {
  project_from_users: ['recovery_codes', 'enrolments', 'factor_changes', 'phone_changes', 'known_networks'],
  project_from_clients: [
    ...['api_keys', 'delegation_keys', 'used_assertions', 'used_delegation_requests', 'authorization_codes'],
  ],
  project_from_sessions: ['participations'],
  project_from_groups: ['group_members'],
};

/**
 * Drops what only the release before tenant keys needed (`tenant-keys`), so that a sign-in writes fewer index entries. Two
 * indexes of sign-ins leave out the rows that have no value yet.
 */
export class Migration20261123029000AfterTenantKeys extends OnlineMigration {
  override async up(): Promise<void> {
    const started = '"project_id", "address") where ("address" is not null';
    await this.index('ceremonies', 'ceremonies_project_id_started_address_index', started);
    const proved = '"account_id") where ("account_id" is not null';
    await this.index('ceremonies', 'ceremonies_proved_account_id_index', proved);
    const replaced = ['ceremonies_project_id_address_index', 'ceremonies_account_id_index'];
    const others = ['participations_previous', 'known_networks_previous'];
    for (const name of [...replaced, ...formerKeys, ...others]) await this.alter(`drop index if exists "${name}"`);
    for (const [fill, tables] of Object.entries(filled)) {
      for (const table of tables) await this.alter(`drop trigger if exists "${table}_project" on "${table}"`);
      await this.alter(`drop function if exists "${fill}"()`);
    }
    await this.alter(
      'drop trigger if exists "memberships_user_project" on "memberships"',
      'drop function if exists "user_project_from_users"()',
    );
  }
}
