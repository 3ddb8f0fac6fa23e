import { useMutation } from '../api.ts';
import { FactorStanding, ProjectById, UpdateProject, type UpdateProjectInput } from '../generated/operations.ts';
import { toast } from '../ui/feedback/toast.tsx';
import type { Project } from './project.tsx';

/** Saves project settings; detects concurrent changes instead of overwriting them. */
export function useProjectForm(project: Project) {
  const [update, busy, failure, reset] = useMutation(UpdateProject, [ProjectById, FactorStanding]);
  const save = async (input: Omit<UpdateProjectInput, 'id' | 'expectedVersion'>): Promise<boolean> => {
    const outcome = await update({ input: { id: project.id, expectedVersion: project.version, ...input } });
    if (outcome.data) toast('Saved');
    return outcome.data !== undefined;
  };
  const faultOf = (field: string) => (failure?.field === field ? failure.message : undefined);
  return { save, busy, failure, faultOf, clear: reset };
}
