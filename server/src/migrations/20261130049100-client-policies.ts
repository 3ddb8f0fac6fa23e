import { OnlineMigration } from './online.ts';

/** Limits of clients that introduced themselves (decisions/0416). The previous release has none. */
export class Migration20261130049100ClientPolicies extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "projects" add column if not exists "client_policies" jsonb');
  }
}
