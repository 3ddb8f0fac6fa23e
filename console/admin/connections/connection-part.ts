import type { ConnectionSettingsFragment } from '../generated/operations.ts';

export type Connection = ConnectionSettingsFragment;

/** Props of a tab of a connection's page. */
export interface ConnectionPartProps {
  connection: Connection;
  mayChange: boolean;
}
