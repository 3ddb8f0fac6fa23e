/**
 * The SCIM room: a directory's users and groups over HTTP, below `/v1/scim/:projectId`.
 * It owns SCIM's wire: schemas, filters, PATCH, Bulk, paging, discovery, errors. It leaves out what a user is
 * (`domain/users`), what deactivation and erasure mean (`domain/accounts`) and whose a token is (`domain/directories`).
 * Standards: RFC 7643, RFC 7644, RFC 9865 (cursor paging), RFC 6750 (bearer tokens), RFC 6585 (429).
 */
import { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import type { Accounts } from '../domain/accounts/accounts.ts';
import type { Directories, Directory } from '../domain/directories/directories.ts';
import type { RequestRecords } from '../domain/directories/request-records.ts';
import { type Clock, isPast, secondsLater } from '../domain/kernel/clock.ts';
import type { Random } from '../domain/kernel/random.ts';
import type { Vault } from '../domain/keys/vault.ts';
import type { Groups } from '../domain/users/groups.ts';
import { actorOf, requestContext } from '../http/context.ts';
import { failureOf } from '../http/failure.ts';
import { queryOf } from '../http/parameters.ts';
import { type Answer, type Caller, isUnchanged, listResponseSchema } from './answer.ts';
import { maxBodyBytes, readBody } from './body.ts';
import { BulkEndpoint, maxPayloadBytes } from './bulk.ts';
import { Cursors } from './cursor.ts';
import { resourceTypeDocuments, schemaDocuments, serviceProviderConfig, wholeList } from './discovery.ts';
import { GroupEndpoint } from './groups.ts';
import { defaultRateLimit, type RateLimit, RateLimiter } from './rate-limit.ts';
import { recordOf } from './recording.ts';
import { rootSearch } from './root-search.ts';
import { badRequest, ScimError, toScimError } from './scim-error.ts';
import { search } from './search.ts';
import { projectionOfQuery, type SearchRequest, searchOfBody, searchOfQuery } from './search-request.ts';
import { UserEndpoint } from './users.ts';

export interface ScimDeps {
  issuer: string;
  accounts: Accounts;
  groups: Groups;
  directories: Directories;
  requestRecords: RequestRecords;
  vault: Vault;
  clock: Clock;
  random: Random;
  rateLimit?: RateLimit;
  log: { error(fields: object, message: string): void };
}

/** A request under way. */
interface Call {
  directory: Directory;
  /** With a `grant` where the token was remembered, and the statement that does the work is to ask of it. */
  caller: Caller;
  startedAt: Date;
  body?: Record<string, unknown>;
}

/** How long many operations go on before their token is asked of again. */
const askAgainSeconds = 1;

type Operation = (req: Request, call: Call) => Answer | Promise<Answer>;

/** To be mounted at `/v1/scim/:projectId`. */
export function scimRoutes(deps: ScimDeps): Router {
  const router = Router({ mergeParams: true });
  const calls = new WeakMap<Request, Call>();
  const limiter = new RateLimiter(deps.clock, deps.rateLimit ?? defaultRateLimit);
  const cursors = new Cursors(deps.vault, deps.clock);
  const users = new UserEndpoint(deps.accounts);
  const groups = new GroupEndpoint(deps.groups);
  const onBug = (err: unknown) => deps.log.error({ err }, 'SCIM bulk operation failed');
  const bulk = new BulkEndpoint({ users, groups, random: deps.random, onBug });

  const call = (req: Request) => calls.get(req) as Call;
  /** For an operation whose statement looks at `caller.grant`: what it shows or changes, it has been granted. */
  const handleGranted =
    (operation: Operation): RequestHandler =>
    async (req, res) =>
      send(req, res, call(req), await operation(req, call(req)), deps);
  const handle =
    (operation: Operation): RequestHandler =>
    async (req, res) => {
      await confirm(req, call(req), deps.directories);
      send(req, res, call(req), await operation(req, call(req)), deps);
    };
  const body = async (req: Request, maxBytes = maxBodyBytes) => {
    const isSlow = !req.complete;
    const read = await readBody(req, maxBytes);
    const now = call(req);
    // What is done with it is granted now, not when it was announced: a token may end before its bodies do.
    if (isSlow && !now.caller.grant) {
      calls.delete(req);
      await askAnew(req, now, deps.directories);
      calls.set(req, now);
    }
    now.body = read;
    return read;
  };

  router.use(async (req: Request<{ projectId: string }>, _res, next) => {
    const { projectId } = req.params;
    const { directory, grant } = await deps.directories.recall(projectId, req.get('authorization'));
    const actor = actorOf(req, { kind: 'scim', id: directory.tokenId, name: directory.tokenName });
    const baseUrl = `${deps.issuer}/v1/scim/${directory.projectId}`;
    const caller = { actor, baseUrl, projectId: directory.projectId, grant };
    calls.set(req, { directory, caller, startedAt: deps.clock.now() });
    limiter.spend(directory.projectId);
    next();
  });

  /** Asks of the token once more where that was a while ago. */
  const goingOn = (req: Request, now: Call) => {
    let askedAt = deps.clock.now();
    return async () => {
      if (!isPast(secondsLater(askedAt, askAgainSeconds), deps.clock.now())) return;
      await askAnew(req, now, deps.directories);
      askedAt = deps.clock.now();
    };
  };

  const list = async (req: Request, endpoint: UserEndpoint | GroupEndpoint, request: SearchRequest) => {
    const { caller } = call(req);
    const source = endpoint.source(caller);
    const found = await search<never>(source as never, request, caller, cursors);
    // Nobody, or no grant.
    if (found.rows.length === 0) await confirm(req, call(req), deps.directories);
    const resources = await endpoint.shown(found.rows, caller, request);
    return listAnswer(request, found.total, resources, found.nextCursor);
  };

  for (const endpoint of [users, groups]) {
    const path = endpoint.type.endpoint;
    const handleSeen = endpoint === users ? handleGranted : handle;
    const id = (req: Request) => String(req.params['id']);
    router
      .route(path)
      .get(handleSeen((req) => list(req, endpoint, searchOfQuery(queryOf(req)))))
      .post(
        handle(async (req, { caller }) => endpoint.create(caller, await body(req), projectionOfQuery(queryOf(req)))),
      )
      .all(onlyMethods('GET, HEAD, POST'));
    router
      .route(`${path}/.search`)
      .post(handleSeen(async (req) => list(req, endpoint, searchOfBody(await body(req)))))
      .all(onlyMethods('POST'));
    router
      .route(`${path}/:id`)
      .get(handleSeen((req, { caller }) => endpoint.read(caller, id(req), projectionOfQuery(queryOf(req)))))
      .put(
        handleSeen(async (req, { caller }) =>
          endpoint.replace(caller, id(req), await body(req), req.get('if-match'), projectionOfQuery(queryOf(req))),
        ),
      )
      .patch(
        handleSeen(async (req, { caller }) =>
          endpoint.patch(caller, id(req), await body(req), req.get('if-match'), projectionOfQuery(queryOf(req))),
        ),
      )
      .delete(
        handle(async (req, { caller }) => {
          const answer = await endpoint.remove(caller, id(req), req.get('if-match'));
          deps.directories.forget();
          return answer;
        }),
      )
      .all(onlyMethods('GET, HEAD, PUT, PATCH, DELETE'));
  }

  const searchAll = async (now: Call, request: SearchRequest) => {
    const { total, resources } = await rootSearch([users, groups], request, now.caller, cursors);
    return listAnswer(request, total, resources, undefined);
  };
  router
    .route('/.search')
    .post(handle(async (req, now) => searchAll(now, searchOfBody(await body(req)))))
    .all(onlyMethods('POST'));
  router
    .route('/Bulk')
    .post(handle(async (req, now) => bulk.run(now.caller, await body(req, maxPayloadBytes), goingOn(req, now))))
    .all(onlyMethods('POST'));
  router.route('/Me').all(() => {
    throw new ScimError(501, 'A directory is nobody here: there is no /Me.');
  });

  discovery('/ServiceProviderConfig', (_req, { caller }) => serviceProviderConfig(caller.baseUrl));
  discovery('/ResourceTypes', (_req, { caller }) => wholeList(resourceTypeDocuments(caller.baseUrl)));
  discovery('/ResourceTypes/:name', (req, { caller }) =>
    named(resourceTypeDocuments(caller.baseUrl), req.params['name']),
  );
  discovery('/Schemas', (_req, { caller }) => wholeList(schemaDocuments(caller.baseUrl)));
  discovery('/Schemas/:name', (req, { caller }) => named(schemaDocuments(caller.baseUrl), req.params['name']));

  router.use(() => {
    throw new ScimError(404, 'There is nothing at this address. Users are at /Users, groups at /Groups.');
  });
  router.use(errors(deps, calls));
  return router;

  function discovery(path: string, document: (req: Request, call: Call) => object): void {
    router
      .route(path)
      .get(
        handle((req, now) => {
          if (new URLSearchParams(queryOf(req)).has('filter')) {
            throw new ScimError(403, 'Discovery cannot be filtered.');
          }
          return { status: 200, body: document(req, now) };
        }),
      )
      .all(onlyMethods('GET, HEAD'));
  }
}

/** Asks of a token that was remembered before anything is said or done that its grant did not cover. */
async function confirm(req: Request, call: Call, directories: Directories): Promise<void> {
  if (call.caller.grant) await askAnew(req, call, directories);
}

async function askAnew(req: Request, call: Call, directories: Directories): Promise<void> {
  call.directory = await directories.authenticate(call.directory.projectId, req.get('authorization'));
  call.caller = { ...call.caller, grant: undefined };
}

function listAnswer(
  { startIndex, cursor }: SearchRequest,
  total: number,
  resources: readonly object[],
  nextCursor: string | undefined,
): Answer {
  return {
    status: 200,
    body: {
      schemas: [listResponseSchema],
      totalResults: total,
      itemsPerPage: resources.length,
      ...(cursor === undefined ? { startIndex } : {}),
      ...(nextCursor === undefined ? {} : { nextCursor }),
      Resources: resources,
    },
  };
}

/** One of the discovery documents by its id, in any case. */
function named(documents: readonly { id: string }[], id: unknown): object {
  const wanted = String(id).toLowerCase();
  const document = documents.find((each) => each.id.toLowerCase() === wanted);
  if (!document) throw new ScimError(404, 'There is nothing by this name.');
  return document;
}

function onlyMethods(allowed: string): RequestHandler {
  return (req) => {
    throw new ScimError(405, `${req.method} is not possible here.`, { headers: { Allow: allowed } });
  };
}

function send(req: Request, res: Response, call: Call, answer: Answer, deps: ScimDeps): void {
  const { version, location, resourceId } = answer;
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  const unchanged = isRead && isUnchanged(req.get('if-none-match'), version);
  if (version !== undefined) res.setHeader('ETag', version);
  if (location !== undefined) res.setHeader('Location', location);
  const status = unchanged ? 304 : answer.status;
  write(res, status, status === 200 || status === 201 ? answer.body : undefined);
  note(req, call, { status, error: undefined, responseBody: answer.body, resourceId }, deps);
}

function write(res: Response, status: number, body: object | undefined): void {
  res.status(status).setHeader('Cache-Control', 'no-store');
  if (body === undefined) {
    res.end();
    return;
  }
  const text = JSON.stringify(body);
  res.setHeader('Content-Type', 'application/scim+json');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}

function note(
  req: Request,
  { directory, startedAt, body }: Call,
  outcome: { status: number; error: ScimError | undefined; responseBody: unknown; resourceId: string | undefined },
  { requestRecords, clock, log }: ScimDeps,
): void {
  const resourceId = outcome.resourceId ?? (typeof req.params['id'] === 'string' ? req.params['id'] : undefined);
  const durationMs = clock.now().getTime() - startedAt.getTime();
  const happened = { ...outcome, resourceId, at: startedAt, durationMs, requestBody: body };
  requestRecords.add(recordOf(req, directory, happened), (err) =>
    log.error({ err }, 'a SCIM request was not recorded'),
  );
}

/** The SCIM envelope for whatever was thrown (RFC 7644 §3.12). */
function errors(deps: ScimDeps, calls: WeakMap<Request, Call>): ErrorRequestHandler {
  return async (failed: unknown, req, res, next) => {
    if (res.headersSent) return next(failed);
    const { requestId } = requestContext(req);
    const call = calls.get(req);
    const thrown = call ? await refusalOf(req, call, failed, deps) : failed;
    const error = toScimError(known(failureOf(thrown)), requestId);
    if (error.status === 500) deps.log.error({ err: thrown, requestId }, 'request failed');
    for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
    write(res, error.status, error);
    const outcome = { status: error.status, error, responseBody: undefined, resourceId: undefined };
    if (call && !call.caller.grant) note(req, call, outcome, deps);
  };
}

/** What is to be said of a failure: that the token is none any more, where that is so, and else what it was. */
async function refusalOf(req: Request, call: Call, failed: unknown, { directories }: ScimDeps): Promise<unknown> {
  try {
    await confirm(req, call, directories);
    return failed;
  } catch (refusal) {
    return refusal;
  }
}

/** Express's own refusal of an address that cannot be decoded. */
function known(thrown: unknown): unknown {
  return thrown instanceof URIError ? badRequest('invalidSyntax', 'The address cannot be decoded.') : thrown;
}
