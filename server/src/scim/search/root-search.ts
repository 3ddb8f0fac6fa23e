import { directoryId, type ScimCaller } from '../answer.ts';
import type { OpenResource } from '../answers/text.ts';
import type { GroupEndpoint } from '../groups.ts';
import { ScimError } from '../scim-error.ts';
import type { UserEndpoint } from '../users.ts';
import type { Cursors } from './cursor.ts';
import { fitted, queryOf, refuseCostly, type Source, search } from './search.ts';
import type { SearchRequest } from './search-request.ts';

type Endpoint = UserEndpoint | GroupEndpoint;

interface Results {
  total: number;
  resources: (object | OpenResource)[];
  nextCursor?: string;
}

/** Name of all types together in the identity of a cursor. */
const everyType = '*';

/**
 * Searches all resource types (RFC 7644 §3.4.3), users before groups, by index, or by cursor if the request has one. A type
 * without an attribute of the filter has no matches; if every type lacks it, the filter is refused.
 */
export async function rootSearch(
  endpoints: readonly Endpoint[],
  request: SearchRequest,
  caller: ScimCaller,
  cursors: Cursors,
): Promise<Results> {
  const able = searchable(endpoints, request, caller);
  if (request.cursor !== undefined) return byCursor(able, request, caller, cursors);
  const resources: Results['resources'] = [];
  let total = 0;
  let isCut = false;
  for (const endpoint of able) {
    // The next page continues with this type.
    const left: number = isCut ? 0 : request.count - resources.length;
    const page = { ...request, startIndex: Math.max(1, request.startIndex - total), count: left };
    const found = await search(sourceOf(endpoint, caller, request), page, caller, cursors);
    resources.push(...endpoint.shown(found.rows as never, caller, request));
    isCut ||= found.isCut;
    total += found.total;
  }
  return { total, resources };
}

/** A page that begins after the cursor's row, and continues with the next type (RFC 9865 §3). */
async function byCursor(
  endpoints: readonly Endpoint[],
  request: SearchRequest,
  caller: ScimCaller,
  cursors: Cursors,
): Promise<Results> {
  const { count, cursor = '' } = request;
  const directory = directoryId(caller);
  const position = cursor === '' ? undefined : cursors.open(directory, request, everyType, cursor);
  if (!position) await refuseCostlyAnywhere(endpoints, request, caller);
  const total = position?.total ?? (await totalOf(endpoints, request, caller));
  const start = position ? endpoints.findIndex(({ name }) => name === position.type) : 0;
  const resources: Results['resources'] = [];
  let last = position;
  for (const endpoint of count === 0 ? [] : endpoints.slice(start)) {
    const isStart = position !== undefined && endpoint.name === position.type;
    const from = isStart ? { afterId: position.id, afterKey: position.key } : { offset: 0 };
    const left = count - resources.length;
    const query = queryOf(endpoint.typeFor(caller), request, caller);
    const source = sourceOf(endpoint, caller, request);
    const rows = await source.list({ ...query, from, limit: left + 1 });
    const { page, isLast } = await fitted(source, rows, left);
    resources.push(...endpoint.shown(page as never, caller, request));
    const end = page.at(-1);
    if (end) last = { id: end.id, key: end.order_key, total, type: endpoint.name };
    if (!isLast && last) {
      return { total, resources, nextCursor: cursors.seal(directory, request, everyType, last) };
    }
  }
  return { total, resources };
}

async function refuseCostlyAnywhere(endpoints: readonly Endpoint[], request: SearchRequest, caller: ScimCaller) {
  for (const endpoint of endpoints) {
    await refuseCostly(sourceOf(endpoint, caller, request), queryOf(endpoint.typeFor(caller), request, caller));
  }
}

async function totalOf(endpoints: readonly Endpoint[], request: SearchRequest, caller: ScimCaller): Promise<number> {
  let total = 0;
  for (const endpoint of endpoints) {
    total += await sourceOf(endpoint, caller, request).count(queryOf(endpoint.typeFor(caller), request, caller).where);
  }
  return total;
}

/** The types that have every attribute of filter and order. Throws if none has. */
function searchable(endpoints: readonly Endpoint[], request: SearchRequest, caller: ScimCaller): Endpoint[] {
  const refusals: unknown[] = [];
  const able = endpoints.filter((endpoint) => {
    try {
      queryOf(endpoint.typeFor(caller), request, caller);
      return true;
    } catch (error) {
      if (!(error instanceof ScimError)) throw error;
      refusals.push(error);
      return false;
    }
  });
  if (able.length === 0) throw refusals[0];
  return able;
}

function sourceOf(endpoint: Endpoint, caller: ScimCaller, request: SearchRequest): Source<{ id: string }> {
  return endpoint.source(caller, request) as unknown as Source<{ id: string }>;
}
