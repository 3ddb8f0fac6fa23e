import { OnlineMigration } from './online.ts';

/**
 * The hour of a user's last sign-in, for the lists (decisions/0182). A trigger writes it, also for the previous release,
 * which keeps working without the index on the moment, only slower.
 */
export class Migration20261124030000SignInHours extends OnlineMigration {
  override async up(): Promise<void> {
    const hour = `date_trunc('hour', new."last_sign_in_at", 'UTC')`;
    await this.alter(
      `alter table "users" add column if not exists "sign_in_hour" timestamptz null`,
      `create or replace function "note_sign_in_hour"() returns trigger language plpgsql as $$
        begin
          new."sign_in_hour" := ${hour};
          return new;
        end $$`,
      `create or replace trigger "users_sign_in_hour" before insert or update on "users" for each row
        when (new."sign_in_hour" is distinct from ${hour}) execute function "note_sign_in_hour"()`,
    );
    await this.backfill('users', {
      set: `"sign_in_hour" = date_trunc('hour', t."last_sign_in_at", 'UTC')`,
      where: `t."last_sign_in_at" is not null and t."sign_in_hour" is null`,
    });
    await this.index('users', 'users_project_id_sign_in_hour_id_index', '"project_id", "sign_in_hour", "id"');
    const never = '"invited_at" is not null and "sign_in_hour" is null';
    await this.index('users', 'users_open_invitation_index', '"project_id", "id"', false, 'btree', never);
    // A moment in an index would make each sign-in write every index of the table.
    for (const name of ['users_project_id_last_sign_in_at_id_index', 'users_invited_index']) {
      await this.alter(`drop index if exists "${name}"`);
    }
  }
}
