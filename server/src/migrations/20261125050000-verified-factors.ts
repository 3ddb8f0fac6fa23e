import { OnlineMigration } from './online.ts';

/** Verified factors by user, for the lists of users with and without one (decisions/0233). */
export class Migration20261125050000VerifiedFactors extends OnlineMigration {
  override async up(): Promise<void> {
    const byUser = '"project_id", "user_id"';
    await this.index('enrolments', 'enrolments_verified_index', byUser, false, 'btree', '"verified_at" is not null');
    const usable = '"user_verified" and "revoked_at" is null';
    await this.index('credentials', 'credentials_verified_index', byUser, false, 'btree', usable);
  }
}
