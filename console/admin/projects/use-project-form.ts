import { useAccess } from '../access.tsx';
import { FactorStanding, ProjectById, UpdateProject, type UpdateProjectInput } from '../generated/operations.ts';
import { type SettingsForm, useSettingsForm } from '../ui/forms/settings-form.ts';
import type { Project } from './project.tsx';

type Settings = Omit<UpdateProjectInput, 'id' | 'expectedVersion'>;

/** Queries that show project settings. */
export const projectQueries = [ProjectById, FactorStanding] as const;

/** Variables that change project settings; concurrent changes are refused. */
export const projectChange = ({ id, version }: Project, settings: Settings) => ({
  input: { id, expectedVersion: version, ...settings },
});

/** Form over project settings. @param saved memoized */
export function useProjectForm<Values extends object & Settings>(
  project: Project,
  saved: Values,
): SettingsForm<Values> {
  return useSettingsForm({
    saved,
    mayChange: useAccess(project.id).mayChange,
    operation: UpdateProject,
    variables: (edits) => projectChange(project, edits),
    invalidates: projectQueries,
  });
}
