import { OnlineMigration } from './online.ts';

const triggers = [
  ['api_keys', 'api_keys_project'],
  ['audit_events', 'audit_events_project'],
  ['authorization_codes', 'authorization_codes_project'],
  ['delegation_keys', 'delegation_keys_project'],
  ['enrolments', 'enrolments_project'],
  ['factor_changes', 'factor_changes_project'],
  ['group_members', 'group_members_project'],
  ['known_networks', 'known_networks_project'],
  ['memberships', 'memberships_user_project'],
  ['participations', 'participations_project'],
  ['phone_changes', 'phone_changes_project'],
  ['recovery_codes', 'recovery_codes_project'],
  ['used_assertions', 'used_assertions_project'],
  ['used_delegation_requests', 'used_delegation_requests_project'],
] as const;

const functions = [
  'project_from_clients',
  'project_from_groups',
  'project_from_sessions',
  'project_from_users',
  'project_of_instance',
  'user_project_from_users',
];

/** Unique indexes for conflict clauses that name their columns (decisions/0325). */
const indexes = ['audit_events_repeat_key_previous', 'known_networks_previous', 'participations_previous'];

/** Objects of databases from before release 1.0 that only their servers needed. */
export class Migration20261129002100EarlierDays extends OnlineMigration {
  override async up(): Promise<void> {
    for (const [table, name] of triggers) await this.alter(`drop trigger if exists "${name}" on "${table}"`);
    for (const name of functions) await this.alter(`drop function if exists "${name}"()`);
    for (const name of indexes) await this.alter(`drop index if exists "${name}"`);
    await this.alter('drop view if exists "devices"');
  }
}
