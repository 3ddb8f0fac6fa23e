import { Migration } from '@mikro-orm/migrations';

/** A project says which second factors can be set up; all of them, until it does. */
export class Migration20261121001101Factors extends Migration {
  override up(): void {
    this.addSql(`alter table "projects" add column "offered_factors" text[] not null default '{totp,sms,email}'`);
  }
}
