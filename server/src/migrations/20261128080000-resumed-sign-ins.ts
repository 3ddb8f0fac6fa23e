import { OnlineMigration } from './online.ts';

/** Finds the pending sign-in of a request of the hosted page, for a page that was reloaded. */
export class Migration20261128080000ResumedSignIns extends OnlineMigration {
  override async up(): Promise<void> {
    const started = '"project_id", "request_id") where ("request_id" is not null and "address" is not null';
    await this.index('ceremonies', 'ceremonies_project_id_request_id_started_index', started);
  }
}
