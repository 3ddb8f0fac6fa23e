import { OnlineMigration } from './online.ts';

/** Groups that no directory owns (decisions/0226). The previous release creates groups for directories only. */
export class Migration20261125040000LocalGroups extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "groups" add column if not exists "provenance" text not null default 'scim'`,
      `alter table "groups" drop constraint if exists "groups_provenance_check"`,
      `alter table "groups" add constraint "groups_provenance_check" check ("provenance" in ('local', 'scim')) not valid`,
    );
    await this.execute(`alter table "groups" validate constraint "groups_provenance_check"`);
  }
}
