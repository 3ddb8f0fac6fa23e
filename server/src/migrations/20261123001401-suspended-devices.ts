import { OnlineMigration } from './online.ts';

/** Devices of users whom a directory deactivated. The previous release revokes them instead. */
export class Migration20261123001401SuspendedDevices extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "credentials" add column if not exists "suspended_at" timestamptz null`);
  }
}
