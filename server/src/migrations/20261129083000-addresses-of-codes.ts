import { OnlineMigration } from './online.ts';

/** Every server from commit 5ffac69 on stores the address of a code. Codes without one have expired. */
export class Migration20261129083000AddressesOfCodes extends OnlineMigration {
  override async up(): Promise<void> {
    await this.remove('one_time_codes', 't.address is null');
    await this.notNull('one_time_codes', 'address');
  }
}
