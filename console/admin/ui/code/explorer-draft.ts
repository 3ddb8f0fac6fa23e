import { store, stored } from '../storage.ts';

/** A request that another page opens in the API explorer. */
export interface ExplorerDraft {
  query: string;
  variables: object;
}

const key = 'lk-explorer-draft';
/** From the click until the new tab has loaded. */
const lifetimeMs = 60_000;
let expiry: ReturnType<typeof setTimeout> | undefined;

/**
 * Passes a request to the tab that the link opens. Through storage instead of the URL, so that a link on another site
 * cannot fill in a request.
 */
export function leaveDraft(draft: ExplorerDraft): void {
  store(key, { ...draft, at: Date.now() });
  // The new tab may never load.
  clearTimeout(expiry);
  expiry = setTimeout(() => store(key, null), lifetimeMs);
}

/** Removes and returns the stored request, unless it has expired. */
export function takeDraft(): ExplorerDraft | undefined {
  const draft = stored(key) as (ExplorerDraft & { at: number }) | undefined;
  if (draft === undefined) return undefined;
  store(key, null);
  return Date.now() - draft.at < lifetimeMs ? draft : undefined;
}
