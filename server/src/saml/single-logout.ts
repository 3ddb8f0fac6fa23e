import type { Request, RequestHandler, Response } from 'express';
import type { Client } from '../domain/clients/client.entity.ts';
import type { ClientRegistry } from '../domain/clients/client-registry.ts';
import { type Clock, seconds } from '../domain/kernel/clock.ts';
import type { Random } from '../domain/kernel/random.ts';
import { inProject } from '../domain/kernel/scope.ts';
import type { SamlKeys } from '../domain/keys/saml-keys.ts';
import { type Vault, VaultError } from '../domain/keys/vault.ts';
import type { Participant, SamlLogout, SentRequest } from '../domain/logout/saml-logout.ts';
import { projectIssuerUrl } from '../domain/projects/issuer.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { redirectTo } from '../domain/saml/bindings.ts';
import { newLogoutRequest } from '../domain/saml/messages/logout.ts';
import { entityIdOf, samlId } from '../domain/tokens/saml/saml-answers.ts';
import { issuerOf } from '../http/issuer.ts';
import { parametersOf } from '../http/parameters.ts';

/** Applications in one logout; further ones are shown as not confirmed. */
const maxFrames = 20;
/** Sessions that a request names, as it is part of an address. */
const maxIndexes = 20;
/** Time in which the page must be left. */
const stateSeconds = 600;
const purpose = 'saml-logout';

/** What follows the logout of the other applications. */
export type AfterLogout =
  | { kind: 'answer'; clientId: string; requestId: string; relayState: string | undefined; isPartial: boolean }
  /** `to`: a registered address; absent: the page "You are signed out". */
  | { kind: 'page'; to?: string | undefined; clientId?: string | undefined; deviceKeys: readonly string[] };

interface State {
  after: AfterLogout;
  sent: SentRequest[];
  /** Applications beyond {@link maxFrames}, at most as many again. */
  unsent: string[];
  /** Seconds since 1970. */
  until: number;
}

export interface SingleLogoutDeps {
  clock: Clock;
  random: Random;
  vault: Pick<Vault, 'seal' | 'open'>;
  samlKeys: Pick<SamlKeys, 'signing'>;
  samlLogout: Pick<SamlLogout, 'participants' | 'confirmed'>;
  registry: Pick<ClientRegistry, 'current'>;
  logoutPages: LogoutPages;
  projectOf(projectId: string): Promise<Pick<Project, 'slug'> | null>;
  errorPage(req: Request, res: Response, status: number, reason: 'parameters'): void | Promise<void>;
  /** Sends the LogoutResponse to the application that asked for the logout. */
  answer(req: Request, res: Response, client: Client, after: AfterLogout & { kind: 'answer' }): Promise<void>;
}

/** An application that has not confirmed its logout. */
type Unconfirmed = Pick<Client, 'name'>;

interface LogoutPages {
  /**
   * Loads each address in a frame. Leads to `next` when all have answered, and after a bounded time: an application that does
   * not answer, or shows a page of its own, does not stop the logout.
   */
  signingOut(
    req: Request,
    res: Response,
    shown: { frames: { name: string; url: string }[]; next: string; projectId: string },
  ): Promise<void>;
  signedOut(
    req: Request,
    res: Response,
    shown: {
      client: Client | undefined;
      projectId: string;
      deviceKeys: readonly string[];
      unconfirmed: readonly Unconfirmed[];
      /** The registered address that the page leads to. */
      to: string | undefined;
    },
  ): Promise<void>;
  /** Inside a frame: tells {@link signingOut} that the application has answered. */
  answered(req: Request, res: Response): void;
}

/**
 * Asks the other SAML applications of sessions that have ended to end theirs (SAML Profiles section 4.4.3.2), by the browser.
 * False, and nothing is sent: there is none with a single logout URL for browsers.
 */
export async function notifyOthers(
  deps: SingleLogoutDeps,
  req: Request,
  res: Response,
  ended: { projectId: string; participants: readonly Participant[]; after: AfterLogout },
): Promise<boolean> {
  const { participants, projectId, after } = ended;
  // The relay has the others already.
  const others = participants.filter(({ client }) => client.samlLogoutUri != null && client.samlLogoutSoapUri == null);
  if (others.length === 0) return false;
  const asked = await Promise.all(others.slice(0, maxFrames).map((one) => requestTo(deps, one)));
  const state: State = {
    after,
    sent: asked.map(({ sent }) => sent),
    unsent: [...new Set(others.slice(maxFrames).map(({ client }) => client.id))].slice(0, maxFrames),
    until: seconds(deps.clock.now()) + stateSeconds,
  };
  const sealed = deps.vault.seal(purpose, projectId, JSON.stringify(state)).toString('base64url');
  const next = `${await endOf(deps, req, projectId)}/saml/logout?${new URLSearchParams({ state: sealed })}`;
  await deps.logoutPages.signingOut(req, res, { frames: asked.map(({ frame }) => frame), next, projectId });
  return true;
}

/**
 * The issuer at which the logout ends: that of the request. One of the applications may be at a custom domain that the project has released,
 * and the application that asked expects its answer from the issuer that it asked.
 */
async function endOf({ projectOf }: SingleLogoutDeps, req: Request, projectId: string): Promise<string> {
  const { project, url } = issuerOf(req);
  if (project) return url;
  const slug = (await projectOf(projectId))?.slug ?? '';
  return projectIssuerUrl(url, slug);
}

async function requestTo(deps: SingleLogoutDeps, { client, issuer, nameId, sessionIndexes }: Participant) {
  const requestId = samlId(deps.random);
  const target = client.samlLogoutUri ?? '';
  const envelope = { id: requestId, issuer: entityIdOf({ url: issuer }), at: deps.clock.now(), destination: target };
  // Only a global logout ends so many: without an index, the request is for all sessions of the user.
  const indexes = sessionIndexes.length > maxIndexes ? [] : sessionIndexes;
  const { xml } = newLogoutRequest(envelope, { nameId, sessionIndexes: indexes });
  const url = await redirectTo(target, { name: 'SAMLRequest', xml }, await deps.samlKeys.signing(client.project.id));
  return { sent: { clientId: client.id, requestId }, frame: { name: client.name, url } };
}

/** `GET {issuer}/saml/logout?state=…`: the end of a logout, with the applications that have confirmed it by now. */
export function logoutEndEndpoint(deps: SingleLogoutDeps): RequestHandler {
  return async (req, res) => {
    const projectId = issuerOf(req).project?.id ?? '';
    const state = opened(deps, projectId, parametersOf(req).get('state'));
    if (state === null) return deps.errorPage(req, res, 400, 'parameters');
    const { after, sent, unsent } = state;
    const confirmed = await inProject(projectId, () => deps.samlLogout.confirmed(projectId, sent));
    const missing = [...unsent, ...sent.filter((one) => !confirmed.includes(one)).map(({ clientId }) => clientId)];
    const clientOf = async (id: string | undefined) =>
      id === undefined ? undefined : ((await deps.registry.current.byId(id)) ?? undefined);
    const client = await clientOf(after.clientId);
    if (after.kind === 'answer') {
      // An admin may have taken it away meanwhile.
      if (client?.samlLogoutUri == null) return deps.errorPage(req, res, 400, 'parameters');
      return deps.answer(req, res, client, { ...after, isPartial: after.isPartial || missing.length > 0 });
    }
    const { deviceKeys, to } = after;
    if (missing.length === 0 && to !== undefined) return res.redirect(303, to);
    const found = await Promise.all([...new Set(missing)].map(clientOf));
    const unconfirmed = found.filter((one) => one !== undefined);
    await deps.logoutPages.signedOut(req, res, { client, projectId, deviceKeys, unconfirmed, to });
  };
}

/** Null: not ours, of another project, or too old. */
function opened({ clock, vault }: SingleLogoutDeps, projectId: string, sealed: string | undefined): State | null {
  try {
    const text = vault.open(purpose, projectId, Buffer.from(sealed ?? '', 'base64url')).toString();
    const state = JSON.parse(text) as State;
    return state.until >= seconds(clock.now()) ? state : null;
  } catch (error) {
    if (error instanceof VaultError) return null;
    throw error;
  }
}
