import { type Part, part, prefetch } from '../api.ts';
import { Frame, ProjectById, Session, SystemLevel } from '../generated/operations.ts';
import { recentProjects } from '../projects/recent.ts';
import { settings } from '../settings.ts';

/** Requests the account, the project and the health of the instance while the script of the page loads. */
export function prefetchFrame(): Promise<void> {
  const { isOwner } = settings;
  const id = /^\/admin\/projects\/([^/]+)/.exec(location.pathname)?.[1] ?? recentProjects()[0]?.id;
  const parts: Part[] = [part(Session, {})];
  if (id !== undefined) parts.push(part(ProjectById, { id }));
  if (isOwner) parts.push(part(SystemLevel, {}));
  return prefetch(Frame, { id: id ?? '', hasProject: id !== undefined, isOwner }, parts);
}
