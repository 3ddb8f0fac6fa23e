import { OnlineMigration } from './online.ts';

/** Sign-ins that an organization requires of its connections (decisions/0398). The previous release does not require them. */
export class Migration20261130040200RequiredConnections extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "sessions" add column if not exists "connected" jsonb');
    await this.alter('alter table "refresh_grants" add column if not exists "connected_organization_id" uuid');
    await this.alter('alter table "authorization_requests" add column if not exists "failed_connection_id" uuid');
  }
}
