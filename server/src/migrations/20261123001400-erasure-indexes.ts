import { OnlineMigration } from './online.ts';

/** Indexes for the rows that an erasure finds by the user or their address. */
export class Migration20261123001400ErasureIndexes extends OnlineMigration {
  override async up(): Promise<void> {
    await this.index('ceremonies', 'ceremonies_project_id_address_index', '"project_id", "address"');
    await this.index('one_time_codes', 'one_time_codes_project_id_user_id_index', '"project_id", "user_id"');
    await this.index('one_time_codes', 'one_time_codes_project_id_address_index', '"project_id", "address"');
    await this.index(
      'authorization_requests',
      'authorization_requests_hinted_user_id_index',
      `"project_id", "hinted_user_id") where ("hinted_user_id" is not null`,
    );
  }
}
