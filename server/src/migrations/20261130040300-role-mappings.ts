import { OnlineMigration } from './online.ts';

/** Roles by groups of a provider (decisions/0399). The previous release assigns none. */
export class Migration20261130040300RoleMappings extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "connections" add column if not exists "role_mappings" jsonb');
  }
}
