import { Migration } from '@mikro-orm/migrations';

/** How many users of a project were erased: what was noted of its directory before the last one is kept without texts. */
export class Migration20261121001600Erasures extends Migration {
  override up(): void {
    this.addSql(`alter table "projects" add column "erasures" int not null default 0`);
  }
}
