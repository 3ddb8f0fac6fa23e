import { part, prefetch } from '../api.ts';
import { Activity, Overview, OverviewPage, OwnerCount } from '../generated/operations.ts';
import { settings } from '../settings.ts';
import { overviewPart, overviewVariables } from './overview-variables.ts';

/** Requests the overview while its script loads, so that the page is rendered once, with its data. */
export function prefetchOverview(projectId: string): Promise<void> {
  const parts = [part(Overview, overviewPart(projectId)), part(Activity, { projectId })];
  if (settings.isOwner) parts.push(part(OwnerCount, {}));
  return prefetch(OverviewPage, overviewVariables(projectId), parts);
}
