import { Migration } from '@mikro-orm/migrations';

/** The request whose own sign-in proved the person of a session. */
export class Migration20261122000200Moments extends Migration {
  override up(): void {
    this.addSql('alter table "sessions" add column "fresh_moment" bigint null');
  }
}
