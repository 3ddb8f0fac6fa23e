import type { FrameQueryVariables } from '../generated/types.ts';
import { recentProjects } from '../projects/recent.ts';
import { settings } from '../settings.ts';

/** Variables of the query `Frame`: the project in the URL, else the last one visited. */
export function frameVariables(): FrameQueryVariables {
  const id = /^\/admin\/projects\/([^/]+)/.exec(location.pathname)?.[1] ?? recentProjects()[0]?.id;
  return { id: id ?? '', hasProject: id !== undefined, isOwner: settings.isOwner };
}
