import { Migration } from '@mikro-orm/migrations';

/** Second factors that a project offers; by default all. */
export class Migration20261121001101Factors extends Migration {
  override up(): void {
    this.addSql(`alter table "projects" add column "offered_factors" text[] not null default '{totp,sms,email}'`);
  }
}
