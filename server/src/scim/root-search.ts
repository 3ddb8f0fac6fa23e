import type { ScimCaller } from './answer.ts';
import type { Cursors } from './cursor.ts';
import type { GroupEndpoint } from './groups.ts';
import { ScimError } from './scim-error.ts';
import { type Found, type Source, search } from './search.ts';
import type { SearchRequest } from './search-request.ts';
import type { UserEndpoint } from './users.ts';

type Endpoint = UserEndpoint | GroupEndpoint;

/**
 * Searches all resource types (RFC 7644 §3.4.3), users before groups, paged by index. A type without an attribute of the
 * filter has no matches; if every type lacks it, the filter is refused.
 */
export async function rootSearch(
  endpoints: readonly Endpoint[],
  request: SearchRequest,
  caller: ScimCaller,
  cursors: Cursors,
): Promise<{ total: number; resources: object[] }> {
  if (request.cursor !== undefined) throw new ScimError(501, 'cursor is supported at /Users and /Groups only.');
  const resources: object[] = [];
  const refusals: unknown[] = [];
  let total = 0;
  for (const endpoint of endpoints) {
    const left = request.count - resources.length;
    const page = { ...request, startIndex: Math.max(1, request.startIndex - total), count: left };
    try {
      const found: Found<never> = await search(endpoint.source(caller) as Source<never>, page, caller, cursors);
      resources.push(...(await endpoint.shown(found.rows, caller, request)));
      total += found.total;
    } catch (error) {
      if (!(error instanceof ScimError)) throw error;
      refusals.push(error);
    }
  }
  if (refusals.length === endpoints.length) throw refusals[0];
  return { total, resources };
}
