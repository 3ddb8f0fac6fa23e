import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import express, { type Express, type RequestHandler, Router } from 'express';
import { accountRoutes } from './account/routes.ts';
import { atLoopback } from './adapters/http/loopback.ts';
import type { Log } from './adapters/telemetry/log.ts';
import { DirectorySelfTest } from './admin/directories/self-test.ts';
import { type AdminDeps, adminRoutes, adminService } from './admin/routes.ts';
import { connectRoutes } from './connect/routes.ts';
import { delegationRoutes } from './delegation/routes.ts';
import { byClientId } from './domain/clients/client-registry.ts';
import { claimedNameOf } from './domain/clients/introductions/introduced-clients.ts';
import type { PublicStatus } from './domain/instance/public-status.ts';
import { type Clock, seconds } from './domain/kernel/clock.ts';
import type { PageRequest } from './domain/kernel/page.ts';
import { newSecret, type Random } from './domain/kernel/random.ts';
import { inAllProjects, inProject } from './domain/kernel/scope.ts';
import { isUuid } from './domain/kernel/secret.ts';
import { PoolTurns } from './domain/limits/turns.ts';
import { findOrganization, organizationNameOf } from './domain/organizations/organization-names.ts';
import type { Issuer } from './domain/projects/issuer.ts';
import type { Project } from './domain/projects/project.entity.ts';
import { keyIn } from './domain/projects/tenant.ts';
import { userIdOfSub } from './domain/users/identity/sub.ts';
import { closingLongBodies, withoutLongBody } from './http/bodies.ts';
import { briefly, builtFiles, forEver } from './http/built-files.ts';
import { withContext } from './http/context.ts';
import { Cookies } from './http/cookies.ts';
import { docsRoutes } from './http/docs/page.ts';
import { withIssuer } from './http/issuer.ts';
import { type Observer, observed } from './http/observer.ts';
import { openApiRoutes } from './http/openapi/routes.ts';
import { Pages } from './http/pages.ts';
import { lastResort } from './http/plain/last-resort.ts';
import { missingPage, startRoutes } from './http/plain/start-page.ts';
import { mount, mountFiles } from './http/routes/mount.ts';
import { securityHeaders } from './http/security-headers.ts';
import { siteAt, siteFault, withSite } from './http/site.ts';
import { observeServices, statusRoutes } from './http/status/page.ts';
import { plainDocuments } from './oidc/documents.ts';
import type { EndSessionDeps } from './oidc/end-session.ts';
import { missingIssuer, oidcPages } from './oidc/pages.ts';
import { domainMetadataRoutes, metadataRoutes, type OidcDeps, oidcRoutes } from './oidc/routes.ts';
import { apiDocument } from './openapi.ts';
import { portalRoutes } from './portal/routes.ts';
import { samlRoutes } from './saml/routes.ts';
import { type SamlServiceDeps, samlService } from './saml/service.ts';
import { mountScim } from './scim/routes.ts';
import type { Services } from './services.ts';
import { signinRoutes } from './signin/routes.ts';

export interface AppOptions {
  services: Services;
  clock: Clock;
  random: Random;
  log: Log;
  issuer: string;
  /** Express' `trust proxy`. */
  trustProxy: boolean | number | string;
  /** Build output of the console package. */
  consoleFolder: string;
  /** Packages and scripts of the SDKs, as built. */
  sdkFolder: string;
  /** Bearer token that the admin API accepts as an owner. */
  bootstrapToken: string | undefined;
  observers?: readonly Observer[];
  /** `DATABASE_POOL_SIZE`. Default: the default of the setting. */
  poolSize?: number | undefined;
  /** Shown at `/status`. Absent: there is no such page. */
  status?: PublicStatus | undefined;
  /** Called after each sign-in step. @param result a status or an error code */
  onSignInStep?(step: string, result: string): void;
}

/** All routes; discovery and JWKS are served before Express. */
export function buildApp(options: AppOptions): RequestListener {
  const { services, issuer } = options;
  const listener = plainDocuments(
    {
      issuer: services.issuers.base,
      mayBeDomain: (host) => services.issuers.mayBeDomain(host),
      jwks: () => services.keys.jwks(),
      requestId: () => options.random.id(),
      securityHeaders: securityHeaders(issuer),
    },
    routesOf(options),
  );
  const { observers = [], status } = options;
  const all = status ? [...observers, observeServices(status)] : observers;
  return observed(all, closingLongBodies(listener));
}

/** All routes, in one Express application. */
export function routesOf(options: AppOptions): Express {
  const { services, log, issuer, clock, random } = options;
  const cookies = new Cookies(issuer);
  const pages = new Pages(options.consoleFolder);
  const app = emptyApp(options);
  app.use(withSite(services.issuers, missingIssuer(pages, 421)));
  const withoutSaml = oidcDeps(options, cookies, pages);
  const { routes: saml, notify } = samlService(samlDeps(options, cookies, pages, withoutSaml.authorize));
  const oidc: OidcDeps = { ...withoutSaml, endSession: { ...withoutSaml.endSession, notifySaml: notify } };
  const ofSite = withIssuer((req) => siteAt(req).issuer, oidc.missingIssuer);
  mount(app, oidcRoutes, oidc, { before: ofSite });
  mount(app, domainMetadataRoutes, oidc, { before: ofSite });
  mount(app, samlRoutes, saml, { before: ofSite });
  mount(app, signinRoutes, {
    ...services,
    cookies,
    pages,
    hasMailbox: services.delivery.hasMailbox,
    isRegisteredOrigin: (origin) => services.origins.isRegistered(origin),
    relatedOrigins: () => services.origins.related(),
    onStep: (step, result) => options.onSignInStep?.(step, result),
    log,
  });
  mount(app, connectRoutes, {
    ...services,
    issuer,
    experienceOf: ({ id }) => services.experiences.published(services.db.reader(), id),
    cookies,
    pages,
    log,
  });
  mount(app, accountRoutes, {
    ...services,
    experienceOf: (projectId) => services.experiences.published(services.db.reader(), projectId),
    cookies,
    csrf: formTokens(services, 'account-form'),
    pages,
    log,
  });
  mount(app, portalRoutes, {
    ...services,
    experienceOf: (projectId) => services.experiences.published(services.db.reader(), projectId),
    cookies,
    csrf: formTokens(services, 'portal-form'),
    pages,
    now: () => clock.now(),
    log,
  });
  mount(app, startRoutes, { pages, cookies });
  const ofKnownSite: RequestHandler = (req, _res, next) => next(siteFault(req));
  const missing = [ofKnownSite, withoutLongBody, missingPage(pages), lastResort(log, pages)];
  const atDomain = Router().use(missing);
  // Custom domains serve nothing else, in particular neither the console nor the admin API. A route of an unknown site fails.
  app.use((req, res, next) => (siteFault(req) || siteAt(req).domain === null ? next() : atDomain(req, res, next)));
  mountFiles(app, '/sdk', builtFiles(options.sdkFolder, sdkHeaders));
  const ofProject = withIssuer(({ params }) => services.issuers.ofSlug(String(params['slug'])), oidc.missingIssuer);
  mount(app, oidcRoutes, oidc, { prefix: '/p/:slug', before: ofProject });
  mount(app, metadataRoutes, oidc, { before: ofProject });
  mount(app, samlRoutes, saml, { prefix: '/p/:slug', before: ofProject });
  const poolTurns = new PoolTurns(options.poolSize);
  mountScim(app, { ...services, issuer, clock, random, log, poolTurns });
  mount(app, delegationRoutes, { ...services, clients: services.registry, issuer, clock, log });
  mount(app, adminRoutes, adminService({ ...adminDeps(options, cookies, pages, app), poolTurns }));
  mount(app, openApiRoutes, { document: () => apiDocument(issuer), pages });
  mount(app, docsRoutes, {
    consoleFolder: options.consoleFolder,
    issuer,
    version: services.systemStatus.version,
    missing: missingPage(pages),
  });
  if (options.status) mount(app, statusRoutes, { status: options.status, pages });
  app.use(missing);
  return app;
}

/** Settings and headers of all responses, and the files of the pages. */
function emptyApp({ issuer, random, trustProxy, consoleFolder }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  app.set('query parser', 'simple');
  app.use(withContext(random));
  const security = securityHeaders(issuer);
  app.use((_req, res, next) => {
    for (const [name, value] of security) res.setHeader(name, value);
    next();
  });
  const built = (folder: string, cacheControl: string) =>
    mountFiles(
      app,
      folder,
      builtFiles(join(consoleFolder, folder), () => ({ 'Cache-Control': cacheControl })),
    );
  built('/assets', forEver);
  built('/messages', briefly);
  return app;
}

/** Any page may load the browser SDK, also with `integrity`. A file with a version in its name never changes. */
function sdkHeaders(path: string): Record<string, string> {
  return {
    'Cache-Control': /-\d+\.\d+\.\d+/.test(path) ? forEver : briefly,
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  };
}

function oidcDeps(
  { services, clock, random, log }: AppOptions,
  cookies: Cookies,
  pages: Pages,
): Omit<OidcDeps, 'endSession'> & { endSession: Omit<EndSessionDeps, 'notifySaml'> } {
  const { db, projects, experiences } = services;
  const experienceOf = ({ id }: Project) => experiences.published(db.reader(), id);
  const projectOf = (projectId: string) => projects.find(db.reader(), projectId);
  const organizationName = (projectId: string, id: string) => organizationNameOf(db.alone, projectId, id);
  const {
    errorPage,
    endSession: endSessionPages,
    consent: page,
    choice: choicePage,
    noAccess: noAccessPage,
  } = oidcPages({ authorizations: services.authorizations, cookies }, pages, experienceOf, projectOf, {
    claimedName: (client) => claimedNameOf(db.alone, client),
    organizationName,
    apis: (projectId, identifiers) => services.apis.named(db.reader(), projectId, identifiers),
  });
  const endpoint = {
    ...services,
    clients: services.registry,
    proofs: services.dpopProofs,
    nonces: services.dpopNonces,
    refusals: services.tokenRefusals,
    revocable: services.revocableTokens,
    cookies,
    errorPage,
    noAccessPage,
    choicePage,
    findOrganization: (projectId: string, name: string) => findOrganization(db.alone, projectId, name),
    isConnection: async (projectId: string, id: string) =>
      (await services.connections.usable(db.reader(), keyIn(projectId, id))) !== null,
    log,
  };
  const readHint = hintsOf(services);
  const consent = { csrf: formTokens(services, 'consent-form'), page };
  return {
    log,
    jwks: (issuer) => services.issuerKeys.of(issuer),
    missingIssuer: missingIssuer(pages),
    isRegisteredOrigin: (origin) => services.origins.isRegistered(origin),
    consent: { ...endpoint, ...consent },
    choice: { ...endpoint, csrf: consent.csrf },
    impersonate: endpoint,
    authorize: {
      ...endpoint,
      consent,
      hintedUser: async (idToken, issuer) => (await readHint(idToken, issuer))?.userId ?? null,
    },
    token: endpoint,
    push: endpoint,
    registration: endpoint,
    revoke: endpoint,
    introspect: endpoint,
    deviceAuthorization: endpoint,
    devicePages: {
      approvals: services.deviceApprovals,
      cookies,
      pages,
      noAccessPage,
      choicePage,
      organizationName,
      projectOf,
      experienceOf,
      newSecret: () => newSecret(random),
      csrf: formTokens(services, 'device-form'),
      nowSeconds: () => seconds(clock.now()),
    },
    userInfo: endpoint,
    endSession: {
      ...endpoint,
      ...logoutDeps(services),
      clients: services.registry.current,
      readHint,
      pages: endSessionPages,
    },
  };
}

/** The pages are those of OpenID Connect. */
function samlDeps(
  { services, clock, random }: AppOptions,
  cookies: Cookies,
  pages: Pages,
  { choicePage, consent, errorPage, noAccessPage }: OidcDeps['authorize'],
): SamlServiceDeps {
  const { db, experiences, projects, tokenRefusals: refusals } = services;
  return {
    ...{ ...services, ...logoutDeps(services), refusals, clock, random, cookies },
    ...{ pages, choicePage, errorPage, noAccessPage, csrf: consent.csrf },
    projectOf: (projectId) => projects.find(db.reader(), projectId),
    experienceOf: ({ id }) => experiences.published(db.reader(), id),
  };
}

/** Reads `id_token_hint`. */
function hintsOf({ db, registry, signer }: Services) {
  return async (idToken: string, issuer: Issuer) => {
    const claims = await signer.verify('id-token', idToken, { issuer, expiredIsFine: true });
    if (!claims || typeof claims.sub !== 'string' || typeof claims.aud !== 'string') return null;
    const sid = typeof claims['sid'] === 'string' ? claims['sid'] : undefined;
    const { aud, sub } = claims;
    // In a scope of its own: the project of the hint may differ from that of the request.
    const find = () => byClientId(registry.current, issuer.project?.id, aud);
    const projectId = (await inAllProjects(find))?.project.id;
    const known = projectId && (await inProject(projectId, () => userIdOfSub(db.alone, projectId, sub)));
    // The id of an erased user still says that another one is meant.
    const userId = known || (isUuid(sub) ? sub : null);
    return userId === null ? null : { userId, clientId: aud, sid };
  };
}

function logoutDeps(services: Services): Pick<EndSessionDeps, 'liveSession' | 'deviceKeys' | 'csrf'> {
  const { db, projects, sessions, devices, accountAccess } = services;
  return {
    liveSession: (projectId, secret) =>
      inProject(projectId, () =>
        db.transaction(async (em) => {
          const project = await projects.find(em, projectId);
          return project ? sessions.held(em, project, secret) : null;
        }),
      ),
    deviceKeys: {
      of: ({ project, user }) => devices.thumbprints(db.reader(), { projectId: project.id, userId: user.id }),
      revoke: async ({ deviceId, project, user }, actor) => {
        if (deviceId) await accountAccess.forgetDevice(project.id, user.id, deviceId, actor);
      },
    },
    csrf: formTokens(services, 'logout-form'),
  };
}

/** CSRF tokens for one kind of form, bound to the session. */
function formTokens({ vault }: Services, form: string) {
  return {
    make: (sessionId: string) => vault.mac(form, sessionId, ''),
    holds: (sessionId: string, token: string | undefined) =>
      token !== undefined && vault.matches(form, sessionId, '', token),
  };
}

function adminDeps(
  { services, clock, random, log, ...options }: AppOptions,
  cookies: Cookies,
  pages: Pages,
  app: Express,
): Omit<AdminDeps, 'poolTurns'> {
  const { senders, delivery } = services;
  const mailbox = senders.mail?.kind === 'mailbox' ? { list: (page: PageRequest) => delivery.mailbox(page) } : null;
  return {
    ...services,
    dpop: { proofs: services.dpopProofs, nonces: services.dpopNonces },
    clock,
    random,
    pages,
    domain: {
      ...services,
      mailbox,
      directoryTest: new DirectorySelfTest({ ...services, clock, random, atLoopback: (use) => atLoopback(app, use) }),
    },
    bootstrapToken: options.bootstrapToken,
    issuer: options.issuer,
    sessionSecret: (req, projectId) => cookies.session(req, projectId),
    setFlowCookie: (res, flow, secret) => cookies.setFlow(res, flow, secret),
    onBug: (err, requestId) => log.error({ err, requestId }, 'admin operation failed'),
    consoleDist: options.consoleFolder,
  };
}
