import { Migration } from '@mikro-orm/migrations';

/** Number of erased users per project: SCIM records from before the last erasure lose their texts. */
export class Migration20261121001600Erasures extends Migration {
  override up(): void {
    this.addSql(`alter table "projects" add column "erasures" int not null default 0`);
  }
}
