import { OnlineMigration } from './online.ts';

/**
 * Impersonation by support (decisions/0422). The previous release has no sessions of this kind: it finds none by a cookie, and
 * redeems no code of one unless it began during the update.
 */
export class Migration20261130050400Impersonation extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "projects" add column if not exists "impersonation" boolean not null default false,
        add column if not exists "impersonation_notices" boolean not null default true`,
    );
    await this.alter(
      'alter table "memberships" add column if not exists "impersonates" boolean not null default false',
    );
    await this.alter('alter table "sessions" add column if not exists "impersonation" jsonb');
    const running = 'impersonation is not null and ended_at is null';
    await this.index('sessions', 'sessions_impersonations_index', 'project_id, expires_at', false, 'btree', running);
  }
}
