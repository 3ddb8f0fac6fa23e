import { OnlineMigration } from './online.ts';

/** The writer of request records looks up the marks of its records among those of all users erased within the last hour. */
export class Migration20261123021300ErasureMarks extends OnlineMigration {
  override async up(): Promise<void> {
    // Statistics of lists take seconds to collect, and no plan needs these.
    await this.alter(
      'alter table "scim_erasures" alter column "marks" set statistics 0',
      'alter table "scim_request_records" alter column "concerns" set statistics 0',
    );
    // Each lookup would read the whole list of pending entries.
    await this.index('scim_erasures', 'scim_erasures_marks_index', '"marks") with (fastupdate = off', false, 'gin');
  }
}
