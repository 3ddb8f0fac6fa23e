import { Migration20261129002000Baseline } from './20261129002000-baseline.ts';
import { Migration20261129002100EarlierDays } from './20261129002100-earlier-days.ts';
import { Migration20261129083000AddressesOfCodes } from './20261129083000-addresses-of-codes.ts';

export const migrations = [
  { name: '20261129002000-baseline', class: Migration20261129002000Baseline },
  { name: '20261129002100-earlier-days', class: Migration20261129002100EarlierDays },
  { name: '20261129083000-addresses-of-codes', class: Migration20261129083000AddressesOfCodes },
];
