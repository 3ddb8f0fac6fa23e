import { ClientById, UpdateClient, type UpdateClientInput } from '../generated/operations.ts';
import { type SettingsForm, useSettingsForm } from '../ui/forms/settings-form.ts';
import type { Client } from './client-part.ts';

/** Variables that change an application; concurrent changes are refused. */
export const clientChange = ({ id, version }: Client, settings: Omit<UpdateClientInput, 'id' | 'expectedVersion'>) => ({
  input: { id, expectedVersion: version, ...settings },
});

/** Form over part of an application's settings. @param saved memoized */
export function useClientForm<Values extends object>(
  client: Client,
  mayChange: boolean,
  saved: Values,
  settings: (edits: Partial<Values>) => Parameters<typeof clientChange>[1],
): SettingsForm<Values> {
  return useSettingsForm({
    saved,
    mayChange,
    operation: UpdateClient,
    variables: (edits) => clientChange(client, settings(edits)),
    invalidates: [ClientById],
  });
}
