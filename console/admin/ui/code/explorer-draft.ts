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
 * Hands a request to the tab that the link opens. By storage and not by the address: no link of another site can fill in a
 * request.
 */
export function leaveDraft(draft: ExplorerDraft): void {
  store(key, { ...draft, at: Date.now() });
  // The new tab may never load.
  clearTimeout(expiry);
  expiry = setTimeout(() => store(key, null), lifetimeMs);
}

/** The request that was just left, once. */
export function takeDraft(): ExplorerDraft | undefined {
  const draft = stored(key) as (ExplorerDraft & { at: number }) | undefined;
  if (draft === undefined) return undefined;
  store(key, null);
  return Date.now() - draft.at < lifetimeMs ? draft : undefined;
}
