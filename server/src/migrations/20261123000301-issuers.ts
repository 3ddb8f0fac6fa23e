import { OnlineMigration } from './online.ts';

/**
 * The issuer of codes, authorization requests, participations and logout deliveries: null is the base issuer, the only
 * one that the previous release knows.
 */
export class Migration20261123000301Issuers extends OnlineMigration {
  override async up(): Promise<void> {
    for (const table of ['authorization_codes', 'authorization_requests', 'participations', 'logout_deliveries']) {
      await this.alter(`alter table "${table}" add column if not exists "issuer" text null`);
    }
  }
}
