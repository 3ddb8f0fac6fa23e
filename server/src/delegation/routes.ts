/**
 * Delegation: a back end's requests about its users' second factors, `POST /v1/delegation` (decisions §9).
 * Owns the wire protocol: client authentication, the envelope, and the binding of responses to requests. Changes of
 * factors are in `domain/delegation`, registration of keys in `admin/`.
 * `GET` returns the audience of requests.
 * Standards: JWS (RFC 7515), JWE (RFC 7516), nested as in RFC 7519 §11.2; Ed25519 and X25519 (RFC 8037).
 */
import { delegationMaxBytes, delegationMediaType, delegationTtlSeconds } from '@latchkey/contracts';
import type { EntityManager } from '@mikro-orm/postgresql';
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import type { Client } from '../domain/clients/client.entity.ts';
import type { DelegationParties } from '../domain/delegation/delegation-keys.ts';
import type { FactorChanges } from '../domain/delegation/factor-changes.ts';
import { type Clock, seconds } from '../domain/kernel/clock.ts';
import { refuse } from '../domain/kernel/problem.ts';
import { type Body, bounded } from '../http/bodies.ts';
import { actorOf, requestContext } from '../http/context.ts';
import { noStore, type Route, routeLabel } from '../http/routes/route.ts';
import { DelegationRefusal, reasonOf, toFailure } from './delegation-error.ts';
import { EnvelopeFault, type Opened, openRequest, requestHash, sealResponse } from './envelope.ts';
import { audienceOperation, delegateOperation } from './openapi.ts';
import { perform } from './operations.ts';

export interface DelegationDeps {
  issuer: string;
  clock: Clock;
  db: { reader(): EntityManager };
  clients: {
    /** The client of an active secret key, with its project. */
    bySecretKey(key: string): Promise<Client | null>;
  };
  delegationKeys: { load(em: EntityManager, client: Client): Promise<DelegationParties> };
  delegationRequests: { use(client: Client, jti: string, expSeconds: number): Promise<boolean> };
  factorChanges: Pick<FactorChanges, 'initiate' | 'verify' | 'current'>;
  log: { error(fields: object, message: string): void; info(fields: object, message: string): void };
}

const body: Body = {
  maxBytes: delegationMaxBytes,
  read: bounded(express.text({ type: () => true, limit: delegationMaxBytes, inflate: false }), delegationMaxBytes),
};

export const delegationRoutes: readonly Route<DelegationDeps>[] = [
  {
    path: '/v1/delegation',
    methods: {
      GET: { handler: discover, openApi: audienceOperation },
      POST: { body, handler: answer, openApi: delegateOperation },
    },
    headers: noStore,
    errors: failed,
  },
];

function discover(deps: DelegationDeps): RequestHandler {
  return async (req, res) => {
    const client = await clientOf(deps, req);
    res.json({ issuer: deps.issuer, project_id: client.project.id, client_id: client.id });
  };
}

function answer(deps: DelegationDeps): RequestHandler {
  return async (req, res) => {
    const client = await clientOf(deps, req);
    const text = textOf(req);
    const parties = await deps.delegationKeys.load(deps.db.reader(), client);
    if (parties.sp.length === 0 || parties.idp.length === 0) {
      throw new DelegationRefusal('NOT_CONFIGURED', 'the client has no keys');
    }
    const audience = `${deps.issuer}/${client.project.id}`;
    const nowSeconds = seconds(deps.clock.now());
    const opened = await openRequest(text, parties, { clientId: client.id, audience, nowSeconds });
    // From here on all responses are signed and encrypted, including errors.
    const { body, status } = await outcomeOf(deps, req, client, opened);
    const { verdict } = opened;
    const sealed = await sealResponse(opened, {
      iss: audience,
      aud: client.id,
      ...(verdict.valid && { req_jti: verdict.request.jti }),
      req_hash: requestHash(text),
      iat: nowSeconds,
      exp: nowSeconds + delegationTtlSeconds,
      status,
      body,
    });
    sendJose(res, sealed);
  };
}

async function outcomeOf(
  deps: DelegationDeps,
  req: Request,
  client: Client,
  { verdict }: Opened,
): Promise<{ status: number; body: object }> {
  try {
    if (!verdict.valid) throw new DelegationRefusal(verdict.code, verdict.reason);
    const { body, exp, jti, op } = verdict.request;
    const fresh = await deps.delegationRequests.use(client, jti, exp);
    if (!fresh) throw new DelegationRefusal('REPLAYED', 'jti was used before');
    const actor = actorOf(req, { kind: 'client', id: client.id, name: client.name });
    return { status: 200, body: await perform(deps.factorChanges, { client, actor }, op, body) };
  } catch (thrown) {
    const failure = loggedFailure(deps, req, thrown);
    return { status: failure.status, body: failure.body };
  }
}

/**
 * Authenticates the client by its secret key. Refuses `unauthenticated`, and `forbidden` for a third-party client: users
 * cannot consent here.
 */
async function clientOf({ clients }: DelegationDeps, req: Request): Promise<Client> {
  const key = req.get('x-api-key');
  const client = (key === undefined ? null : await clients.bySecretKey(key)) ?? refuse({ code: 'unauthenticated' });
  if (client.thirdParty) refuse({ code: 'forbidden', reason: 'third-party clients cannot change factors of users' });
  return client;
}

function textOf(req: Request): string {
  const type = req.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== delegationMediaType) {
    throw new DelegationRefusal('UNSUPPORTED_MEDIA_TYPE', 'the body is not application/jose');
  }
  return typeof req.body === 'string' ? req.body : '';
}

function sendJose(res: Response, text: string): void {
  // `send` would add a charset, which the type does not have (RFC 7515 §9.2.1).
  res.setHeader('Content-Type', delegationMediaType);
  res.end(text);
}

function loggedFailure(deps: DelegationDeps, req: Request, thrown: unknown) {
  const { requestId } = requestContext(req);
  const failure = toFailure(thrown, requestId);
  const { code } = failure.body.error;
  const route = routeLabel(req);
  if (failure.isBug) deps.log.error({ err: thrown, requestId, route }, 'delegation failed');
  else deps.log.info({ requestId, route, refusal: code, reason: reasonOf(thrown) }, 'delegation refused');
  return failure;
}

/** Unencrypted error for a request that could not be decrypted. Does not reveal the cause. */
function failed(deps: DelegationDeps): ErrorRequestHandler {
  return (thrown: unknown, req, res, next) => {
    if (res.headersSent) return next(thrown);
    const fault = thrown instanceof EnvelopeFault ? new DelegationRefusal('REQUEST_REJECTED', thrown.message) : thrown;
    const { body, retryAfterSeconds, status } = loggedFailure(deps, req, fault);
    if (retryAfterSeconds !== undefined) res.setHeader('Retry-After', String(retryAfterSeconds));
    res.status(status).json(body);
  };
}
