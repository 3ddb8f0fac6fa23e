import { OnlineMigration } from './online.ts';

/** Clients that authenticate by tokens of another issuer (decisions/0411). The previous release refuses their assertions. */
export class Migration20261130043100WorkloadIdentity extends OnlineMigration {
  override async up(): Promise<void> {
    for (const name of ['workload_issuer', 'workload_subject', 'workload_audience']) {
      await this.alter(`alter table "clients" add column if not exists "${name}" text`);
    }
  }
}
