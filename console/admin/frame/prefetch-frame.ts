import { type Part, part, prefetch } from '../api.ts';
import { Frame, ProjectById, Session, SystemLevel } from '../generated/operations.ts';
import { frameVariables } from './frame-variables.ts';

/** Requests the account, the project and the health of the instance while the script of the page loads. */
export function prefetchFrame(): Promise<void> {
  const variables = frameVariables();
  const { id, hasProject, isOwner } = variables;
  const parts: Part[] = [part(Session, {})];
  if (hasProject) parts.push(part(ProjectById, { id }));
  if (isOwner) parts.push(part(SystemLevel, {}));
  return prefetch(Frame, variables, parts);
}
