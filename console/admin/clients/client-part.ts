import type { ClientSettingsFragment } from '../generated/operations.ts';

export type Client = ClientSettingsFragment;

/** What each part of an application's page is given: the application, and whether the reader may change it. */
export interface ClientPartProps {
  client: Client;
  mayChange: boolean;
}
