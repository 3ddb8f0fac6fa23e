import { OnlineMigration } from './online.ts';

/** The time by which retention periods are counted (decisions/0356). The previous release uses its clock. */
export class Migration20261128205000RetentionProgress extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "retention_progress" ("id" text not null, "at" timestamptz not null, primary key ("id"))`,
    );
  }
}
