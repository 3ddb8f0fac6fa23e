import { OnlineMigration } from './online.ts';

/** Tables that are also read by an id alone (the node of an admin operation, a client, a logo). */
const tables = [
  ...['users', 'clients', 'groups', 'sessions', 'credentials', 'api_keys', 'delegation_keys', 'scim_tokens'],
  ...['logout_deliveries', 'logos'],
];

/**
 * Replaces the unique indexes by an id alone: a unique index beside the primary key is an error for concurrent inserts
 * whose `on conflict` names the primary key. Ids are random; an import refuses those of another project.
 */
export class Migration20261128031000IndexById extends OnlineMigration {
  override async up(): Promise<void> {
    for (const table of tables) {
      await this.index(table, `${table}_id_index`, 'id');
      await this.alter(`drop index if exists "${table}_id_previous"`);
    }
  }
}
