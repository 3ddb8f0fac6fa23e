import { useState } from 'react';
import { useMutation } from '../api.ts';
import type { Failure } from '../failure.ts';
import { FactorStanding, ProjectById, UpdateProject, type UpdateProjectInput } from '../generated/operations.ts';
import { toast } from '../ui/feedback/toast.tsx';
import type { Project } from './project.tsx';

/** Saves project settings; detects concurrent changes instead of overwriting them. */
export function useProjectForm(project: Project) {
  const [failure, setFailure] = useState<Failure>();
  const [update, busy] = useMutation(UpdateProject, [ProjectById, FactorStanding]);
  const save = async (input: Omit<UpdateProjectInput, 'id' | 'expectedVersion'>): Promise<boolean> => {
    const outcome = await update({ input: { id: project.id, expectedVersion: project.version, ...input } });
    setFailure(outcome.failure);
    if (outcome.data) toast('Saved');
    return outcome.data !== undefined;
  };
  const faultOf = (field: string) => (failure?.field === field ? failure.message : undefined);
  return { save, busy, failure, faultOf, clear: () => setFailure(undefined) };
}
