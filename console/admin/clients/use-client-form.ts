import { useCallback, useState } from 'react';
import { useMutation } from '../api.ts';
import type { Failure } from '../failure.ts';
import { ClientById, UpdateClient, type UpdateClientInput } from '../generated/operations.ts';
import { toast } from '../ui/feedback/toast.tsx';
import type { Client } from './client-part.ts';

/** Saves part of an application; detects concurrent changes instead of overwriting them. */
export function useClientForm(client: Client) {
  const [failure, setFailure] = useState<Failure>();
  const [update, busy] = useMutation(UpdateClient, [ClientById]);
  const save = useCallback(
    async (input: Omit<UpdateClientInput, 'id' | 'expectedVersion'>): Promise<boolean> => {
      const outcome = await update({ input: { id: client.id, expectedVersion: client.version, ...input } });
      setFailure(outcome.failure);
      if (outcome.data) toast('Saved');
      return outcome.data !== undefined;
    },
    [client.id, client.version, update],
  );
  const faultOf = (field: string) => (failure?.field === field ? failure.message : undefined);
  return { save, busy, failure, faultOf, clear: () => setFailure(undefined) };
}
