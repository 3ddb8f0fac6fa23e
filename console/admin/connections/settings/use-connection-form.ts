import { UpdateConnection, type UpdateConnectionInput } from '../../generated/operations.ts';
import { type SettingsForm, useSettingsForm } from '../../ui/forms/settings-form.ts';
import type { Connection } from '../connection-part.ts';
import { stale } from '../connection-state.tsx';

/** Form over part of a connection's settings. @param saved memoized */
export function useConnectionForm<Values extends object>(
  { id }: Connection,
  mayChange: boolean,
  saved: Values,
  input: (edits: Partial<Values>) => Omit<UpdateConnectionInput, 'id'>,
): SettingsForm<Values> {
  return useSettingsForm({
    saved,
    mayChange,
    operation: UpdateConnection,
    variables: (edits) => ({ input: { id, ...input(edits) } }),
    invalidates: stale,
  });
}
