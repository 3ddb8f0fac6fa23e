import type { Request, RequestHandler, Response } from 'express';
import type { Client } from '../domain/clients/client.entity.ts';
import { clientIdOf } from '../domain/clients/client-id.ts';
import type { ClientSource } from '../domain/clients/client-registry.ts';
import { hasAppScheme, isReturnable } from '../domain/clients/redirect-uri.ts';
import type { Actor } from '../domain/kernel/actor.ts';
import { inProject } from '../domain/kernel/scope.ts';
import type { EndedSessions } from '../domain/logout/logout.ts';
import type { LogoutScope } from '../domain/logout/notices.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { TenantKey } from '../domain/projects/tenant.ts';
import type { Session } from '../domain/sessions/session.entity.ts';
import type { TokenRefusals } from '../domain/tokens/token-refusals.ts';
import { actorOf } from '../http/context.ts';
import { clientsAt, issuerOf } from '../http/issuer.ts';
import { lacksCookies, type Parameters, parametersOf } from '../http/parameters.ts';

interface Hint {
  userId: string;
  clientId: string;
  sid: string | undefined;
}

/** The subject of a logout page: an application or a project; neither if sessions of several projects end. */
export interface LogoutSubject {
  client?: Client;
  projectId?: string | undefined;
}

export interface EndSessionDeps {
  refusals: Pick<TokenRefusals, 'record'>;
  clients: ClientSource;
  /** The user and the claims of a valid ID token of this issuer, expired or not; null also for an unknown user. */
  readHint(idToken: string, issuer: Issuer): Promise<Hint | null>;
  /** The live session of this browser in a project; does not extend the idle timeout. */
  liveSession(projectId: string, secret: string): Promise<Session | null>;
  logout: {
    endSession(session: TenantKey, actor: Actor): Promise<EndedSessions>;
    endAllOfUser(user: TenantKey, actor: Actor): Promise<EndedSessions>;
    endByHint(projectId: string, hint: Hint, scope: LogoutScope, actor: Actor): Promise<EndedSessions>;
  };
  /**
   * Sends a page that has the SAML applications of these sessions end theirs, and then leads on; false: there is none. `to`: a
   * registered address, else the page {@link EndSessionDeps.pages}.signedOut follows.
   */
  notifySaml(
    req: Request,
    res: Response,
    ended: { projectId: string; sessions: EndedSessions },
    after: { to: string | undefined; clientId: string | undefined; deviceKeys: readonly string[] },
  ): Promise<boolean>;
  deviceKeys: {
    /** Thumbprints of the keys of a session's user. */
    of(session: Session): Promise<string[]>;
    /** Revokes the device of a session, if any. */
    revoke(session: Session, actor: Actor): Promise<void>;
  };
  cookies: {
    session(req: Request, projectId: string): string | undefined;
    sessions(req: Request): { projectId: string; secret: string }[];
    clearSession(res: Response, projectId: string): void;
  };
  /** CSRF token of the confirmation form, bound to this session. */
  csrf: { make(sessionId: string): string; holds(sessionId: string, token: string | undefined): boolean };
  pages: {
    error(req: Request, res: Response, status: number, reason: 'client' | 'parameters'): void;
    /**
     * Renders the confirmation page; its form posts `fields`. `returnsTo`: allowed redirect of the response.
     * `isAddressRefused`: the page says that the application's return address is not registered.
     */
    confirm(
      req: Request,
      res: Response,
      about: LogoutSubject,
      fields: Record<string, string>,
      options: { returnsTo: string | undefined; isAddressRefused: boolean; deviceKeys: readonly string[] },
    ): Promise<void>;
    signedOut(req: Request, res: Response, about: LogoutSubject, deviceKeys: readonly string[]): Promise<void>;
  };
}

/** `GET` and `POST /oauth2/end_session` (OpenID Connect RP-Initiated Logout 1.0, service.md 4.2). */
export function endSessionEndpoint(deps: EndSessionDeps): RequestHandler {
  return async (req, res) => {
    const parameters = parametersOf(req);
    // Without this, the session would continue although the page reports its end.
    if (req.get('sec-fetch-site') === 'cross-site' && lacksCookies(req)) {
      return res.redirect(303, `${req.baseUrl}/oauth2/end_session?${req.body}`);
    }
    if (parameters.wrongContentType || parameters.faults.length > 0) {
      return deps.pages.error(req, res, 400, 'parameters');
    }
    const issuer = issuerOf(req);
    const hint = await hintOf(deps, parameters, issuer);
    const clientId = parameters.get('client_id') ?? hint?.clientId;
    if (clientId === undefined) return endAll(deps, req, res, parameters);
    const client = await clientsAt(issuer, deps.clients).byId(clientId);
    if (!client) return deps.pages.error(req, res, 400, 'client');
    await endFor(deps, req, res, client, parameters, hint?.clientId === clientIdOf(client) ? hint : null);
  };
}

async function endFor(
  deps: EndSessionDeps,
  req: Request,
  res: Response,
  client: Client,
  parameters: Parameters,
  hint: Hint | null,
): Promise<void> {
  const projectId = client.project.id;
  const secret = deps.cookies.session(req, projectId);
  const session = secret === undefined ? null : await deps.liveSession(projectId, secret);
  const returnTo = registeredReturn(client, parameters);
  const wanted = parameters.get('post_logout_redirect_uri');
  const asked = wanted !== undefined;
  const isRefused = asked && returnTo === undefined;
  if (isRefused) await refuseAddress(deps, req, client, wanted);
  // With an unregistered redirect URI, ask and do not redirect.
  const mayEndAtOnce = hint !== null && (!asked || returnTo !== undefined);
  const confirmed = session !== null && req.method === 'POST' && deps.csrf.holds(session.id, parameters.get('csrf'));
  if (session && !confirmed && !(mayEndAtOnce && hint.userId === session.user.id)) {
    // The client id, even if only the hint contained it: the form does not send the hint.
    const { post_logout_redirect_uri: address, ...others } = echoed(parameters);
    const kept = isRefused || address === undefined ? others : { ...others, post_logout_redirect_uri: address };
    const fields = { ...kept, client_id: clientIdOf(client), csrf: deps.csrf.make(session.id) };
    return deps.pages.confirm(req, res, { client }, fields, {
      returnsTo: returnTo,
      isAddressRefused: isRefused,
      deviceKeys: await keysOf(deps, [session]),
    });
  }
  const actor = actorOf(req, { kind: 'user', id: session?.user.id ?? hint?.userId ?? '' });
  const scope = parameters.get('logout_scope') === 'session' ? 'session' : 'global';
  const ended = await end(deps, projectId, scope, session, hint, actor);
  if (session) deps.cookies.clearSession(res, projectId);
  if (confirmed) await forgetIfAsked(deps, parameters, session, actor);
  // Without a session, redirect only with a valid hint, which proves that the user comes from this client.
  const to = session || hint ? returnTo : undefined;
  const deviceKeys = to === undefined ? await keysOf(deps, session ? [session] : []) : [];
  const after = { to, clientId: client.id, deviceKeys };
  if (await deps.notifySaml(req, res, { projectId, sessions: ended }, after)) return;
  if (to === undefined) return deps.pages.signedOut(req, res, { client }, deviceKeys);
  res.redirect(303, to);
}

/** Without a client, asks to end all sessions of this browser; at a project's issuer, those of the project. */
async function endAll(deps: EndSessionDeps, req: Request, res: Response, parameters: Parameters): Promise<void> {
  const { project } = issuerOf(req);
  const projectIds = (live: readonly Session[]) => new Set(live.map((session) => session.project.id));
  const held = deps.cookies.sessions(req).filter(({ projectId }) => project === null || project.id === projectId);
  const live = await Promise.all(held.map(({ projectId, secret }) => deps.liveSession(projectId, secret)));
  const sessions = live.filter((session) => session !== null);
  const all = sessions.map(({ id }) => id).join(' ');
  const [only, another] = projectIds(sessions);
  // At the base issuer, the sessions of a browser may be of several projects.
  const about = { projectId: project?.id ?? (another === undefined ? only : undefined) };
  if (sessions.length > 0 && !(req.method === 'POST' && deps.csrf.holds(all, parameters.get('csrf')))) {
    return deps.pages.confirm(
      req,
      res,
      about,
      { ...echoed(parameters), csrf: deps.csrf.make(all) },
      { returnsTo: undefined, isAddressRefused: false, deviceKeys: await keysOf(deps, sessions) },
    );
  }
  const ended: string[] = [];
  for (const session of sessions) {
    const actor = actorOf(req, { kind: 'user', id: session.user.id });
    await inProject(session.project.id, async () => {
      ended.push(...(await deps.logout.endSession(session, actor)));
      await forgetIfAsked(deps, parameters, session, actor);
    });
    deps.cookies.clearSession(res, session.project.id);
  }
  const deviceKeys = await keysOf(deps, sessions);
  const { projectId } = about;
  // The applications of several projects have no page in common.
  const isNotified =
    projectId !== undefined &&
    (await deps.notifySaml(
      req,
      res,
      { projectId, sessions: ended },
      { to: undefined, clientId: undefined, deviceKeys },
    ));
  if (!isNotified) await deps.pages.signedOut(req, res, about, deviceKeys);
}

/** "Sign out and forget this browser": revokes the device; the page's script deletes the keys. */
async function forgetIfAsked(
  deps: EndSessionDeps,
  parameters: Parameters,
  session: Session,
  actor: Actor,
): Promise<void> {
  if (parameters.get('forget') === '1') await deps.deviceKeys.revoke(session, actor);
}

async function keysOf(deps: EndSessionDeps, sessions: readonly Session[]): Promise<string[]> {
  const ofEach = sessions.map((session) => inProject(session.project.id, () => deps.deviceKeys.of(session)));
  return (await Promise.all(ofEach)).flat();
}

async function end(
  deps: EndSessionDeps,
  projectId: string,
  scope: LogoutScope,
  session: Session | null,
  hint: Hint | null,
  actor: Actor,
): Promise<EndedSessions> {
  if (!session) return hint ? deps.logout.endByHint(projectId, hint, scope, actor) : [];
  return await (scope === 'global'
    ? deps.logout.endAllOfUser({ id: session.user.id, project: session.project }, actor)
    : deps.logout.endSession(session, actor));
}

function refuseAddress({ refusals }: EndSessionDeps, req: Request, client: Client, address: string): Promise<void> {
  const type = 'logout.address_refused';
  return refusals.record({
    type,
    reason: 'unregistered',
    clientId: client.id,
    actor: actorOf(req),
    redirectUri: address,
  });
}

async function hintOf(deps: EndSessionDeps, parameters: Parameters, issuer: Issuer): Promise<Hint | null> {
  const idToken = parameters.get('id_token_hint');
  return idToken === undefined ? null : deps.readHint(idToken, issuer);
}

/** The registered redirect URI with `state`; undefined if there is none or it is not registered exactly. */
function registeredReturn(client: Client, parameters: Parameters): string | undefined {
  const uri = parameters.get('post_logout_redirect_uri');
  if (uri === undefined || !(isReturnable(uri) || hasAppScheme(uri)) || !client.postLogoutRedirectUris.includes(uri))
    return undefined;
  const state = parameters.get('state');
  if (state === undefined) return uri;
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams({ state })}`;
}

/** Parameters that the confirmation form sends again, without the hint, which the confirmation replaces. */
function echoed(parameters: Parameters): Record<string, string> {
  const names = ['post_logout_redirect_uri', 'state', 'logout_scope', 'ui_locales'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = parameters.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
