import { OnlineMigration } from './online.ts';

/** Networks of a project that many users share (decisions/0345). The previous release has none. */
export class Migration20261128202500SharedNetworks extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(`alter table "projects" add column if not exists "shared_networks" text[] not null default '{}'`);
  }
}
