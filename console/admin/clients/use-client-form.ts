import { useCallback } from 'react';
import { useMutation } from '../api.ts';
import { ClientById, UpdateClient, type UpdateClientInput } from '../generated/operations.ts';
import { toast } from '../ui/feedback/toast.tsx';
import type { Client } from './client-part.ts';

/** Saves part of an application; detects concurrent changes instead of overwriting them. */
export function useClientForm(client: Client) {
  const [update, busy, failure, reset] = useMutation(UpdateClient, [ClientById]);
  const save = useCallback(
    async (input: Omit<UpdateClientInput, 'id' | 'expectedVersion'>): Promise<boolean> => {
      const outcome = await update({ input: { id: client.id, expectedVersion: client.version, ...input } });
      if (outcome.data) toast('Saved');
      return outcome.data !== undefined;
    },
    [client.id, client.version, update],
  );
  const faultOf = (field: string) => (failure?.field === field ? failure.message : undefined);
  return { save, busy, failure, faultOf, clear: reset };
}
