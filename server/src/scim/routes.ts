/**
 * SCIM 2.0: users and groups of one project over HTTP, below `/v1/scim/:projectId`.
 * Owns SCIM's wire format: schemas, filters, PATCH, Bulk, paging, discovery, errors. Leaves users to `domain/users`,
 * deactivation and erasure to `domain/accounts`, tokens to `domain/directories`.
 * Standards: RFC 7643, RFC 7644, RFC 9865 (cursor paging), RFC 6750 (bearer tokens), RFC 6585 (429).
 */
import type { IRouter, RequestHandler } from 'express';
import { mount } from '../http/routes/mount.ts';
import { noStore, type Operation, type Route, type Unlisted } from '../http/routes/route.ts';
import { listAnswer, type ScimCaller } from './answer.ts';
import { maxBodyBytes } from './body.ts';
import { maxPayloadBytes } from './bulk.ts';
import { resourceTypeDocuments, schemaDocuments, serviceProviderConfig, wholeList } from './discovery.ts';
import { meEndpoint } from './me.ts';
import { readGroupBody } from './members/group-body.ts';
import { generalOperations, resourceOperations } from './openapi.ts';
import { checkPath, matchable, singleSlashes } from './paths.ts';
import type { Projection } from './projection.ts';
import { authentication, handling, rechecked, type ScimOperation, type ScimRequest } from './requests/handling.ts';
import { type ScimDeps, type ScimService, scimService } from './requests/service.ts';
import { sendError } from './respond.ts';
import { userTypeOf } from './schema/custom.ts';
import { entitlementType, groupType, type ResourceType, roleType, userType } from './schema/resource-type.ts';
import { ScimError } from './scim-error.ts';
import { rootSearch } from './search/root-search.ts';
import { search } from './search/search.ts';
import { projectionOfQuery, type SearchRequest, searchOfBody, searchOfQuery } from './search/search-request.ts';

type ScimRoute = Route<ScimService>;
type Described = Operation<ScimService, void>['openApi'];
type Run = ScimOperation['run'];

/** The path of a project's service, for {@link scimRoutes}. */
export const scimPrefix = '/v1/scim/:projectId';

/** Mounts the service of each project. */
export function mountScim(app: IRouter, deps: ScimDeps): void {
  app.use('/v1/scim', (req, _res, next) => {
    req.url = matchable(singleSlashes(req.url));
    next();
  });
  const place = { prefix: scimPrefix, label: '/v1/scim/:project' };
  mount(app, scimRoutes, scimService(deps), place);
}

/** An operation without a body. */
const bodiless = (openApi: Described, run: Run): Operation<ScimService, void> => ({
  handler: (service) => handling({ run }, service),
  openApi,
});

/** An operation that reads its body after authentication. */
const reading = (
  openApi: Described,
  run: Run,
  more: Omit<ScimOperation, 'run'> & { maxBytes: number } = { maxBytes: maxBodyBytes },
): Operation<ScimService, void> => ({
  body: { maxBytes: more.maxBytes },
  handler: (service) => handling({ ...more, run }, service),
  openApi,
});

/** The part that all routes share: one answer to OPTIONS for every project, without a token; then authentication. */
const shared = {
  headers: noStore,
  options: 'allowed-methods',
  checks: (service: ScimService) => [authentication(service), checkPath],
  errors: ({ deps }: ScimService) => sendError(deps),
  service: 'directory_sync',
} as const;

const idOf = ({ params }: ScimRequest) => String(params['id']);

/** Lists, searches and reads of a type of resource. */
function readRoutes(
  key: 'users' | 'groups' | 'roles' | 'entitlements',
  type: ResourceType,
): [list: ScimRoute, search: ScimRoute, one: ScimRoute] {
  const { endpoint: path } = type;
  const described = resourceOperations(type);
  const list = async (service: ScimService, caller: ScimCaller, request: SearchRequest) => {
    const endpoint = service[key];
    const source = endpoint.source(caller, request) as never;
    const { rows, total, nextCursor } = await search<never>(source, request, caller, service.cursors);
    return listAnswer(request, total, endpoint.shown(rows, caller, request), nextCursor);
  };
  return [
    {
      path,
      methods: {
        GET: bodiless(described.list, (service, { caller, query }) => list(service, caller, searchOfQuery(query))),
      },
      ...shared,
    },
    {
      path: `${path}/.search`,
      methods: {
        POST: reading(described.search, (service, { caller, body }) => list(service, caller, searchOfBody(body))),
      },
      ...shared,
    },
    {
      path: `${path}/:id`,
      methods: {
        GET: bodiless(described.read, (service, request) =>
          service[key].read(request.caller, idOf(request), projectionOfQuery(request.query)),
        ),
      },
      ...shared,
    },
  ];
}

/** The routes of a type whose resources directories write. */
function resourceRoutes(
  key: 'users' | 'groups',
  type: ResourceType,
  ofPut?: Pick<ScimOperation, 'readsLarge'>,
): ScimRoute[] {
  const [list, searches, one] = readRoutes(key, type);
  const described = resourceOperations(type);
  const maxBytes = maxBodyBytes;
  const answered = ({ query, isMinimal }: ScimRequest): Projection => ({ ...projectionOfQuery(query), isMinimal });
  const create = reading(described.create, (service, { caller, body, query }) =>
    service[key].create(caller, body, projectionOfQuery(query)),
  );
  const replace = reading(
    described.replace,
    (service, request) => {
      const { caller, body, checkVersion } = request;
      return service[key].replace(caller, idOf(request), body, checkVersion, answered(request));
    },
    { maxBytes, ...ofPut },
  );
  const patch = reading(described.patch, (service, request) => {
    const { caller, body, checkVersion } = request;
    return service[key].patch(caller, idOf(request), body, checkVersion, answered(request));
  });
  const remove = bodiless(described.remove, (service, request) =>
    service[key].remove(request.caller, idOf(request), request.checkVersion),
  );
  return [
    { ...list, methods: { ...list.methods, POST: create } },
    searches,
    { ...one, methods: { ...one.methods, PUT: replace, PATCH: patch, DELETE: remove } },
  ];
}

function discovery(path: string, openApi: Described, document: (caller: ScimCaller, id: string) => object): ScimRoute {
  const run: Run = (_service, { caller, params, query }) => {
    if (new URLSearchParams(query).has('filter')) {
      throw new ScimError(403, 'Discovery endpoints do not support filter.');
    }
    return { status: 200, body: document(caller, String(params['id'])) };
  };
  return { path, methods: { GET: bodiless(openApi, run) }, ...shared };
}

const refusal = <O extends Described>(openApi: O, status: number, detail: string) => ({
  handler: (): RequestHandler => () => {
    throw new ScimError(status, detail);
  },
  openApi,
});

const general = generalOperations;
const notOfDirectories = <O extends Described>(openApi: O) =>
  refusal(openApi, 501, '/Me is not supported for directories.');
const unlisted: Unlisted = 'refusal';

/** The service of one project, to be mounted at {@link scimPrefix}. GET also answers HEAD. */
export const scimRoutes: readonly ScimRoute[] = [
  ...resourceRoutes('users', userType),
  // A directory may send back the group that it read.
  ...resourceRoutes('groups', groupType, { readsLarge: readGroupBody }),
  ...readRoutes('roles', roleType),
  ...readRoutes('entitlements', entitlementType),
  {
    path: '/.search',
    methods: {
      POST: reading(general.searchAll, async ({ users, groups, cursors }, { caller, body }) => {
        const request = searchOfBody(body);
        const { total, resources, nextCursor } = await rootSearch([users, groups], request, caller, cursors);
        return listAnswer(request, total, resources, nextCursor);
      }),
    },
    ...shared,
  },
  {
    path: '/Bulk',
    methods: {
      POST: reading(
        general.bulk,
        ({ bulk, deps }, { caller, body, authenticate, inTurn }) =>
          bulk.run(caller, body, rechecked(deps, authenticate), inTurn),
        { maxBytes: maxPayloadBytes, takesTurns: true },
      ),
    },
    ...shared,
  },
  {
    path: '/Me',
    methods: { GET: notOfDirectories(general.readMe) },
    any: notOfDirectories(unlisted),
    ...shared,
    checks: (service) => [meEndpoint(service.deps), authentication(service), checkPath],
  },
  discovery('/ServiceProviderConfig', general.config, ({ baseUrl }) => serviceProviderConfig(baseUrl)),
  discovery('/ResourceTypes', general.types, (caller) => wholeList(typesOf(caller))),
  discovery('/ResourceTypes/:id', general.type, (caller, id) => documentById(typesOf(caller), id)),
  discovery('/Schemas', general.schemas, (caller) => wholeList(schemasOf(caller))),
  discovery('/Schemas/:id', general.schema, (caller, id) => documentById(schemasOf(caller), id)),
  {
    path: '/{*path}',
    methods: {},
    any: refusal(unlisted, 404, 'Unknown path. Users are at /Users, groups at /Groups.'),
    ...shared,
    options: undefined,
    label: '/v1/scim/other',
  },
];

function typesOf({ baseUrl, custom }: ScimCaller) {
  return resourceTypeDocuments(baseUrl, userTypeOf(custom));
}

function schemasOf({ baseUrl, custom }: ScimCaller) {
  return schemaDocuments(baseUrl, userTypeOf(custom));
}

/** One of the discovery documents by its id, in any case. */
function documentById(documents: readonly { id: string }[], id: string): object {
  const wanted = id.toLowerCase();
  const document = documents.find((each) => each.id.toLowerCase() === wanted);
  if (!document) throw new ScimError(404, 'No document has this id.');
  return document;
}
