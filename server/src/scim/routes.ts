/**
 * SCIM 2.0: users and groups of one project over HTTP, below `/v1/scim/:projectId`.
 * Owns SCIM's wire format: schemas, filters, PATCH, Bulk, paging, discovery, errors. Leaves users to `domain/users`,
 * deactivation and erasure to `domain/accounts`, tokens to `domain/directories`.
 * Standards: RFC 7643, RFC 7644, RFC 9865 (cursor paging), RFC 6750 (bearer tokens), RFC 6585 (429).
 */
import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Accounts } from '../domain/accounts/accounts.ts';
import type { AdminClients } from '../domain/admins/admin-clients.ts';
import type { Directories, Directory } from '../domain/directories/directories.ts';
import { isCompactJws } from '../domain/kernel/base64url.ts';
import { isPast, secondsLater } from '../domain/kernel/clock.ts';
import type { Random } from '../domain/kernel/random.ts';
import type { Vault } from '../domain/keys/vault.ts';
import { type InTurn, type PoolTurns, Turns } from '../domain/limits/turns.ts';
import type { Roles } from '../domain/roles/roles.ts';
import type { CustomAttributes } from '../domain/users/custom/custom-attributes.ts';
import type { Groups } from '../domain/users/groups.ts';
import type { GroupMembers } from '../domain/users/members/group-members.ts';
import { actorOf, requestContext } from '../http/context.ts';
import { queryOf } from '../http/parameters.ts';
import { listAnswer, type ScimAnswer, type ScimCaller, type VersionCheck, versionCheck } from './answer.ts';
import { type AnswerLimits, defaultAnswerLimits } from './answers/limits.ts';
import { maxBodyBytes, readBody } from './body.ts';
import { BulkEndpoint, maxPayloadBytes } from './bulk.ts';
import { resourceTypeDocuments, schemaDocuments, serviceProviderConfig, wholeList } from './discovery.ts';
import { GroupEndpoint } from './groups.ts';
import { type MeDeps, meEndpoint } from './me.ts';
import { readGroupBody } from './members/group-body.ts';
import { singleSlashes } from './paths.ts';
import type { Projection } from './projection.ts';
import { defaultRateLimit, type RateLimit, RateLimiter } from './rate-limit.ts';
import { callOf, prepared, type ResponseDeps, sendAnswer, sendError, setCall } from './respond.ts';
import { OfferedRoleEndpoint } from './roles.ts';
import { userTypeOf } from './schema/custom.ts';
import { entitlementType, roleType } from './schema/resource-type.ts';
import { ScimError } from './scim-error.ts';
import { Cursors } from './search/cursor.ts';
import { rootSearch } from './search/root-search.ts';
import { search } from './search/search.ts';
import { projectionOfQuery, type SearchRequest, searchOfBody, searchOfQuery } from './search/search-request.ts';
import { UserEndpoint } from './users.ts';

export interface ScimDeps extends ResponseDeps, MeDeps {
  accounts: Accounts;
  groups: Groups;
  groupMembers: GroupMembers;
  roles: Roles;
  directories: Directories;
  adminClients: AdminClients;
  customAttributes: CustomAttributes;
  vault: Vault;
  random: Random;
  rateLimit?: RateLimit;
  /** Default: {@link defaultAnswerLimits}. */
  answerLimits?: AnswerLimits;
  poolTurns: PoolTurns;
}

/** A request as an operation reads it. */
interface ScimRequest {
  caller: ScimCaller;
  params: Request['params'];
  query: string;
  checkVersion: VersionCheck;
  /** `Prefer: return=minimal` (RFC 7240 §4.2). */
  isMinimal: boolean;
  /** Empty if the operation takes none. */
  body: Record<string, unknown>;
  /** Checks the token again. Refuses as {@link Directories.authenticate} does. */
  authenticate(): Promise<unknown>;
  /** Runs a part of an operation as one request of the project, see {@link Turns}. */
  inTurn: InTurn;
}

interface Operation {
  /** Maximum body size in bytes; absent if the operation takes no body. */
  maxBytes?: number;
  /** Reads a body of a size of its own, instead of one of at most `maxBytes`. */
  readsLarge?(req: Request): Promise<Record<string, unknown>>;
  /** Whether it takes its turns itself, since it consists of many requests. */
  takesTurns?: true;
  run(request: ScimRequest): ScimAnswer | Promise<ScimAnswer>;
}

type Routes = Record<string, Partial<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', Operation>>>;

/** The waiting requests of a project, the turns of its directory's requests, and of its large responses and bodies. */
interface Waiting {
  turns: Turns;
  large: Turns;
}

/** Large responses and bodies of a project in transfer at once, in this process, and further ones that wait. */
const largeAtOnce = { atOnce: 4, waiting: 12 };

/** A long Bulk request checks its token again after this time. */
const recheckSeconds = 1;

/** To be mounted at `/v1/scim/:projectId`. */
export function scimRoutes(deps: ScimDeps): Router {
  const router = Router({ mergeParams: true });
  router.use((req, _res, next) => {
    req.url = singleSlashes(req.url);
    next();
  });
  const routes = Object.entries(routesOf(deps));
  for (const [path, operations] of routes) router.options(path, allows(allowed(operations)));
  router.options('/Me', allows('GET, HEAD, OPTIONS')).all('/Me', meEndpoint(deps));
  router.use(authentication(deps));
  const turns = deps.poolTurns.ofCallers((deps.rateLimit ?? defaultRateLimit).burst);
  const waiting = { turns, large: new Turns(largeAtOnce) };
  for (const [path, operations] of routes) {
    const route = router.route(path);
    for (const [method, operation] of Object.entries(operations)) {
      route[method.toLowerCase() as 'get'](handler(operation, deps, waiting));
    }
    route.all(onlyMethods(operations));
  }
  router.all('/Me', () => {
    throw new ScimError(501, '/Me is not supported for directories.');
  });
  router.use(() => {
    throw new ScimError(404, 'Unknown path. Users are at /Users, groups at /Groups.');
  });
  router.use(sendError(deps));
  return router;
}

/** Every operation, by path and method. HEAD is answered as GET. */
function routesOf(deps: ScimDeps): Routes {
  const { accounts, customAttributes, groups, groupMembers, roles, vault, clock, random, log } = deps;
  const limits = limitsOf(deps);
  const cursors = new Cursors({ vault, clock });
  const endpoints = [
    new UserEndpoint({ accounts, customAttributes, limits }),
    new GroupEndpoint({ groups, members: groupMembers, limits }),
  ] as const;
  const onFault = (err: unknown) => log.error({ err }, 'SCIM bulk operation failed');
  const bulk = new BulkEndpoint({ users: endpoints[0], groups: endpoints[1], random, onFault });
  return {
    ...resourceRoutes(endpoints[0], cursors),
    // A directory may send back the group that it read.
    ...resourceRoutes(endpoints[1], cursors, { readsLarge: readGroupBody }),
    ...readRoutes(new OfferedRoleEndpoint(roleType, { roles }), cursors),
    ...readRoutes(new OfferedRoleEndpoint(entitlementType, { roles }), cursors),
    '/.search': {
      POST: {
        maxBytes: maxBodyBytes,
        run: async ({ caller, body }) => {
          const request = searchOfBody(body);
          const { total, resources, nextCursor } = await rootSearch(endpoints, request, caller, cursors);
          return listAnswer(request, total, resources, nextCursor);
        },
      },
    },
    '/Bulk': {
      POST: {
        maxBytes: maxPayloadBytes,
        takesTurns: true,
        run: ({ caller, body, authenticate, inTurn }) => bulk.run(caller, body, recheck(deps, authenticate), inTurn),
      },
    },
    '/ServiceProviderConfig': discovery(({ baseUrl }) => serviceProviderConfig(baseUrl)),
    '/ResourceTypes': discovery((caller) => wholeList(typesOf(caller))),
    '/ResourceTypes/:id': discovery((caller, id) => documentById(typesOf(caller), id)),
    '/Schemas': discovery((caller) => wholeList(schemasOf(caller))),
    '/Schemas/:id': discovery((caller, id) => documentById(schemasOf(caller), id)),
  };
}

const typesOf = ({ baseUrl, custom }: ScimCaller) => resourceTypeDocuments(baseUrl, userTypeOf(custom));
const schemasOf = ({ baseUrl, custom }: ScimCaller) => schemaDocuments(baseUrl, userTypeOf(custom));

type Endpoint = UserEndpoint | GroupEndpoint | OfferedRoleEndpoint;

const idOf = ({ params }: ScimRequest) => String(params['id']);

function readRoutes(endpoint: Endpoint, cursors: Cursors): Routes {
  const { path } = endpoint;
  const list = async (caller: ScimCaller, request: SearchRequest) => {
    const source = endpoint.source(caller, request) as never;
    const { rows, total, nextCursor } = await search<never>(source, request, caller, cursors);
    return listAnswer(request, total, endpoint.shown(rows, caller, request), nextCursor);
  };
  return {
    [path]: { GET: { run: ({ caller, query }) => list(caller, searchOfQuery(query)) } },
    [`${path}/.search`]: {
      POST: { maxBytes: maxBodyBytes, run: ({ caller, body }) => list(caller, searchOfBody(body)) },
    },
    [`${path}/:id`]: {
      GET: { run: (request) => endpoint.read(request.caller, idOf(request), projectionOfQuery(request.query)) },
    },
  };
}

function resourceRoutes(
  endpoint: UserEndpoint | GroupEndpoint,
  cursors: Cursors,
  ofPut?: Pick<Operation, 'readsLarge'>,
): Routes {
  const { path } = endpoint;
  const maxBytes = maxBodyBytes;
  const answered = ({ query, isMinimal }: ScimRequest): Projection => ({ ...projectionOfQuery(query), isMinimal });
  const reads = readRoutes(endpoint, cursors);
  return {
    ...reads,
    [path]: {
      ...reads[path],
      POST: { maxBytes, run: ({ caller, body, query }) => endpoint.create(caller, body, projectionOfQuery(query)) },
    },
    [`${path}/:id`]: {
      ...reads[`${path}/:id`],
      PUT: {
        maxBytes,
        ...ofPut,
        run: (request) => {
          const { caller, body, checkVersion } = request;
          return endpoint.replace(caller, idOf(request), body, checkVersion, answered(request));
        },
      },
      PATCH: {
        maxBytes,
        run: (request) => {
          const { caller, body, checkVersion } = request;
          return endpoint.patch(caller, idOf(request), body, checkVersion, answered(request));
        },
      },
      DELETE: { run: (request) => endpoint.remove(request.caller, idOf(request), request.checkVersion) },
    },
  };
}

function discovery(document: (caller: ScimCaller, id: string) => object): Routes[string] {
  return {
    GET: {
      run: ({ caller, params, query }) => {
        if (new URLSearchParams(query).has('filter')) {
          throw new ScimError(403, 'Discovery endpoints do not support filter.');
        }
        return { status: 200, body: document(caller, String(params['id'])) };
      },
    },
  };
}

/** One of the discovery documents by its id, in any case. */
function documentById(documents: readonly { id: string }[], id: string): object {
  const wanted = id.toLowerCase();
  const document = documents.find((each) => each.id.toLowerCase() === wanted);
  if (!document) throw new ScimError(404, 'No document has this id.');
  return document;
}

/** Authenticates the directory, and counts the request against its project's rate limit. */
function authentication(deps: ScimDeps): RequestHandler<{ projectId: string }> {
  const limiter = new RateLimiter({ clock: deps.clock, limit: deps.rateLimit ?? defaultRateLimit });
  return async (req, res, next) => {
    const directory = await directoryOf(deps, req, req.params.projectId);
    const { projectId, schemaVersion } = directory;
    const custom = await deps.customAttributes.ofVersion(projectId, schemaVersion);
    const actor = actorOf(req, { kind: 'scim', id: directory.tokenId, name: directory.tokenName });
    const caller = { actor, baseUrl: `${deps.issuer}/v1/scim/${projectId}`, projectId, custom };
    setCall(res, { directory, caller, startedAt: deps.clock.now() });
    limiter.spend(projectId);
    next();
  };
}

/**
 * The directory of a request, by a SCIM token, or by an access token of an application with the scope `scim`. Refuses as
 * {@link Directories.authenticate} does.
 */
async function directoryOf(deps: ScimDeps, req: Request, projectId: string): Promise<Directory> {
  const authorization = req.get('authorization');
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  const client = isCompactJws(token) ? await deps.adminClients.byToken({ token, scheme: 'Bearer', proof }) : null;
  const application = client?.scopes.includes('scim') ? client : undefined;
  return deps.directories.authenticate(projectId, { authorization, application, ip: requestContext(req).ip });
}

/** Directories have no keys for DPoP. */
const proof = async () => null;

const limitsOf = ({ answerLimits = defaultAnswerLimits }: ScimDeps): AnswerLimits => answerLimits;

function handler(
  { maxBytes, readsLarge, run, takesTurns }: Operation,
  deps: ScimDeps,
  { turns, large }: Waiting,
): RequestHandler {
  const limits = limitsOf(deps);
  return async (req: Request, res: Response) => {
    const call = callOf(res);
    const { projectId } = call.caller;
    const authenticate = () => directoryOf(deps, req, projectId);
    // The token may end while the request waits for its turn.
    const check = recheck(deps, authenticate);
    if (maxBytes !== undefined) {
      const isSlow = !req.complete;
      const isSmall = Number(req.get('content-length') ?? Number.POSITIVE_INFINITY) <= maxBytes;
      const read = () => (readsLarge ? readsLarge(req) : readBody(req, maxBytes));
      const body = await (readsLarge && !isSmall ? large.of(projectId, read) : read());
      // The token may have ended while the body arrived.
      if (isSlow) await authenticate();
      call.body = body;
    }
    const { params } = req;
    const isMinimal = prefersMinimal(req);
    const inTurn: InTurn = (work) => turns.of(projectId, work);
    const checkVersion = versionCheck(req.get('if-match'), req.get('if-none-match'));
    const sent = { params, query: queryOf(req), checkVersion, isMinimal, body: call.body ?? {} };
    const request = { ...sent, caller: call.caller, authenticate, inTurn };
    const checked = <T>(work: () => Promise<T>) => inTurn(() => check().then(work));
    const answered = async () => prepared(req, await run(request), limits);
    const ready = await (takesTurns ? answered() : checked(answered));
    const { answer, text } = ready;
    if (isMinimal && answer.status === 204 && req.method !== 'DELETE') {
      res.setHeader('Preference-Applied', 'return=minimal');
    }
    const send = () => sendAnswer(req, res, ready, { ...deps, limits }, checked);
    // Its client may read slowly. It holds no turn of the database meanwhile, but memory.
    await (text && !text.isEnded ? large.of(projectId, send) : send());
  };
}

function prefersMinimal(req: Request): boolean {
  const preferences = req.get('prefer')?.split(/[,;]/) ?? [];
  return preferences.some((preference) => /^return\s*=\s*"?minimal"?$/i.test(preference.trim()));
}

/** Authenticates again if the last check is more than {@link recheckSeconds} ago. */
function recheck({ clock }: ScimDeps, authenticate: () => Promise<unknown>): () => Promise<void> {
  let checkedAt = clock.now();
  return async () => {
    if (!isPast(secondsLater(checkedAt, recheckSeconds), clock.now())) return;
    await authenticate();
    checkedAt = clock.now();
  };
}

/** Handles OPTIONS (RFC 9110 §9.3.7), the same for every project and without a token. */
function allows(methods: string): RequestHandler {
  return (_req, res) => {
    res.status(204).setHeader('Allow', methods).setHeader('Cache-Control', 'no-store').end();
  };
}

function onlyMethods(operations: Routes[string]): RequestHandler {
  return (req) => {
    throw new ScimError(405, `${req.method} is not supported here.`, { headers: { Allow: allowed(operations) } });
  };
}

function allowed(operations: Routes[string]): string {
  const methods = Object.keys(operations).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...methods, 'OPTIONS'].join(', ');
}
