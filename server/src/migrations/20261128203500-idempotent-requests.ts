import { OnlineMigration } from './online.ts';

/** Mutations of the admin API that were sent with an `Idempotency-Key`. */
export class Migration20261128203500IdempotentRequests extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "idempotent_requests" ("id" text not null, "request_mac" text not null,
        "sealed_answer" bytea null, "created_at" timestamptz not null, primary key ("id"))`,
      `create index if not exists "idempotent_requests_created_at_index" on "idempotent_requests" ("created_at")`,
    );
  }
}
