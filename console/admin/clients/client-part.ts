import type { ClientSettingsFragment } from '../generated/operations.ts';

export type Client = ClientSettingsFragment;

/** Props of each tab of an application's page. */
export interface ClientPartProps {
  client: Client;
  mayChange: boolean;
}
