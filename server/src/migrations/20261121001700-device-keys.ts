import { Migration } from '@mikro-orm/migrations';

/** Index to find devices by their keys. */
export class Migration20261121001700DeviceKeys extends Migration {
  override up(): void {
    this.addSql(`create index "devices_jkt_index" on "devices" ("jkt")`);
  }
}
