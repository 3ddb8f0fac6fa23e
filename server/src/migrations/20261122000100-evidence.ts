import { OnlineMigration } from './online.ts';

/**
 * Sign-in from evidence. The columns that the previous release writes (`user_id`, `device_id` and `amr` of ceremonies) stay
 * until the next one. A ceremony's account follows from its evidence, so no statement can set it.
 */
export class Migration20261122000100Evidence extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('create sequence if not exists "moments"');
    await this.add(
      'projects',
      `"email_factor" boolean not null default true`,
      `"device_trust_days" int not null default 180`,
      `"sms_countries" text[] not null default '{}'`,
      `"sms_per_day" int not null default 1000`,
    );
    await this.add('clients', `"pkce_required" boolean not null default false`);
    await this.add('devices', `"registered_at" timestamptz null`, `"mfa_remembered_at" timestamptz null`);
    await this.add('enrolments', `"ceremony_id" uuid null`);
    await this.addMoments();
    await this.add(
      'one_time_codes',
      ...['user_id', 'client_id'].map((column) => `"${column}" uuid null`),
      ...['address', 'sent_to'].map((column) => `"${column}" text null`),
      `"format" text not null default 'short'`,
      `"requester_known" boolean not null default false`,
    );
    await this.addEvidence();
    await this.alter(`create table if not exists "known_networks" (
      "user_id" uuid not null constraint "known_networks_user_id_foreign" references "users" ("id") on delete cascade,
      "network" text not null, "last_at" timestamptz not null, primary key ("user_id", "network"))`);
  }

  private add(table: string, ...columns: string[]): Promise<void> {
    return this.alter(
      `alter table "${table}" ${columns.map((column) => `add column if not exists ${column}`).join(', ')}`,
    );
  }

  /** Earlier rows get 0, which is before every moment; `nextval` for each would rewrite the table under its lock. */
  private async addMoments(): Promise<void> {
    for (const [table, column] of [
      ['sessions', '"fresh_at" timestamptz null'],
      ['authorization_requests', '"person_required" boolean not null default false'],
    ] as const) {
      await this.alter(
        `alter table "${table}" add column if not exists ${column}, add column if not exists "moment" bigint not null default 0`,
        `alter table "${table}" alter column "moment" set default nextval('moments')`,
      );
    }
  }

  /** A generated column rewrites the table: without expired ceremonies, which a job deletes later, it is small. */
  private async addEvidence(): Promise<void> {
    await this.add('ceremonies', `"evidence" jsonb not null default '[]'`);
    await this.remove('ceremonies', 't.expires_at <= now()');
    await this.add('ceremonies', `"account_id" uuid generated always as ((evidence -> 0 ->> 'account')::uuid) stored`);
    await this.foreignKey('ceremonies', ['account_id'], 'users', ['id']);
    await this.index('ceremonies', 'ceremonies_account_id_index', '"account_id"');
  }
}
