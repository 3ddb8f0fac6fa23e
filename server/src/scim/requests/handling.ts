import type { Request, RequestHandler, Response } from 'express';
import type { Directory } from '../../domain/directories/directories.ts';
import { isCompactJws } from '../../domain/kernel/base64url.ts';
import { isPast, secondsLater } from '../../domain/kernel/clock.ts';
import type { InTurn } from '../../domain/limits/turns.ts';
import { actorOf, requestContext } from '../../http/context.ts';
import { queryOf } from '../../http/parameters.ts';
import { directoryId, type ScimAnswer, type ScimCaller, type VersionCheck, versionCheck } from '../answer.ts';
import { readBody } from '../body.ts';
import { callOf, prepared, sendAnswer, setCall } from '../respond.ts';
import type { ScimDeps, ScimService } from './service.ts';

/** A request as an operation reads it. */
export interface ScimRequest {
  caller: ScimCaller;
  params: Request['params'];
  query: string;
  checkVersion: VersionCheck;
  /** `Prefer: return=minimal` (RFC 7240 §4.2). */
  isMinimal: boolean;
  /** Empty if the operation has none. */
  body: Record<string, unknown>;
  /** Checks the token again. Refuses as {@link Directories.authenticate} does. */
  authenticate(): Promise<unknown>;
  /** Runs a part of an operation as one request of the directory, see {@link Turns}. */
  inTurn: InTurn;
}

/** Handler of an operation, and its limits. */
export interface ScimOperation {
  /** Maximum body size in bytes; absent if the operation accepts no body. */
  maxBytes?: number;
  /** Reads a body of a size of its own, instead of one of at most `maxBytes`. */
  readsLarge?(req: Request): Promise<Record<string, unknown>>;
  /** Whether it takes its turns itself, since it consists of many requests. */
  takesTurns?: true;
  run(service: ScimService, request: ScimRequest): ScimAnswer | Promise<ScimAnswer>;
}

/** A long Bulk request checks its token again after this time. */
const recheckSeconds = 1;

/** Authenticates the directory, and counts the request against its rate limit. */
export function authentication({ deps, limiter }: ScimService): RequestHandler {
  return async (req, res, next) => {
    const directory = await directoryOf(deps, req, String(req.params['projectId']));
    const { organizationId, projectId, schemaVersion } = directory;
    const custom = await deps.customAttributes.ofVersion(projectId, schemaVersion);
    const actor = actorOf(req, { kind: 'scim', id: directory.tokenId, name: directory.tokenName });
    const baseUrl = `${deps.issuer}/v1/scim/${organizationId ?? projectId}`;
    const caller = { actor, baseUrl, projectId, organizationId, custom };
    setCall(res, { directory, caller, startedAt: deps.clock.now() });
    limiter.spend(directoryId(caller));
    next();
  };
}

/**
 * The directory of a request, by a SCIM token, or by an access token of an application with the scope `scim`. Refuses as
 * {@link Directories.authenticate} does.
 */
async function directoryOf(deps: ScimDeps, req: Request, id: string): Promise<Directory> {
  const authorization = req.get('authorization');
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  const client = isCompactJws(token) ? await deps.adminClients.byToken({ token, scheme: 'Bearer', proof }) : null;
  const application = client?.scopes.includes('scim') ? client : undefined;
  return deps.directories.authenticate(id, { authorization, application, ip: requestContext(req).ip });
}

/** Directories have no keys for DPoP. */
const proof = async () => null;

export function handling(
  { maxBytes, readsLarge, run, takesTurns }: ScimOperation,
  service: ScimService,
): RequestHandler {
  const { deps, limits, turns, large } = service;
  return async (req: Request, res: Response) => {
    const call = callOf(res);
    const id = directoryId(call.caller);
    const authenticate = () => directoryOf(deps, req, id);
    // The token may end while the request waits for its turn.
    const check = rechecked(deps, authenticate);
    if (maxBytes !== undefined) {
      const isSlow = !req.complete;
      const isSmall = Number(req.get('content-length') ?? Number.POSITIVE_INFINITY) <= maxBytes;
      const read = () => (readsLarge ? readsLarge(req) : readBody(req, maxBytes));
      const body = await (readsLarge && !isSmall ? large.of(id, read) : read());
      // The token may have ended while the body arrived.
      if (isSlow) await authenticate();
      call.body = body;
    }
    const { params } = req;
    const isMinimal = prefersMinimal(req);
    const inTurn: InTurn = (work) => turns.of(id, work);
    const checkVersion = versionCheck(req.get('if-match'), req.get('if-none-match'));
    const sent = { params, query: queryOf(req), checkVersion, isMinimal, body: call.body ?? {} };
    const request = { ...sent, caller: call.caller, authenticate, inTurn };
    const checked = <T>(work: () => Promise<T>) => inTurn(() => check().then(work));
    const answered = async () => prepared(req, await run(service, request), limits);
    const ready = await (takesTurns ? answered() : checked(answered));
    const { answer, text } = ready;
    if (isMinimal && answer.status === 204 && req.method !== 'DELETE') {
      res.setHeader('Preference-Applied', 'return=minimal');
    }
    const send = () => sendAnswer(req, res, ready, { ...deps, limits }, checked);
    // Its client may read slowly. It holds no turn of the database meanwhile, but memory.
    await (text && !text.isEnded ? large.of(id, send) : send());
  };
}

function prefersMinimal(req: Request): boolean {
  const preferences = req.get('prefer')?.split(/[,;]/) ?? [];
  return preferences.some((preference) => /^return\s*=\s*"?minimal"?$/i.test(preference.trim()));
}

/** Authenticates again if the last check is more than {@link recheckSeconds} ago. */
export function rechecked({ clock }: ScimDeps, authenticate: () => Promise<unknown>): () => Promise<void> {
  let checkedAt = clock.now();
  return async () => {
    if (!isPast(secondsLater(checkedAt, recheckSeconds), clock.now())) return;
    await authenticate();
    checkedAt = clock.now();
  };
}
