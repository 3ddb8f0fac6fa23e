import type { ErrorRequestHandler, Request, Response } from 'express';
import type { Directory } from '../domain/directories/directories.ts';
import type { RequestRecords } from '../domain/directories/request-records.ts';
import type { Clock } from '../domain/kernel/clock.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import { requestContext } from '../http/context.ts';
import { failureOf } from '../http/failure.ts';
import { readStatus, type ScimAnswer, type ScimCaller } from './answer.ts';
import { type RequestOutcome, recordOf } from './records/recording.ts';
import { badRequest, toScimError } from './scim-error.ts';

export interface ResponseDeps {
  requestRecords: RequestRecords;
  clock: Clock;
  log: { error(fields: object, message: string): void };
}

/** An authenticated request. */
export interface Call {
  directory: Directory;
  caller: ScimCaller;
  startedAt: Date;
  /** Set once it has been read. */
  body?: Record<string, unknown>;
}

export function setCall(res: Response, call: Call): void {
  res.locals['call'] = call;
}

export function callOf(res: Response): Call {
  return res.locals['call'];
}

/** Sends the response and records the request. */
export function sendAnswer(req: Request, res: Response, answer: ScimAnswer, deps: ResponseDeps): void {
  const { resourceId, body } = answer;
  const status = sendResource(req, res, answer);
  record(req, callOf(res), { status, error: undefined, responseBody: body, resourceId }, deps);
}

/** Sends the response, and returns its status. */
export function sendResource(req: Request, res: Response, answer: ScimAnswer): number {
  const { version, location, body } = answer;
  const isRead = version !== undefined && (req.method === 'GET' || req.method === 'HEAD');
  const status = isRead ? readStatus(req.get('if-match'), req.get('if-none-match'), version) : answer.status;
  if (version !== undefined) res.setHeader('ETag', version);
  if (location !== undefined) res.setHeader('Location', location);
  write(res, status, status === 200 || status === 201 ? body : undefined);
  return status;
}

/** Sends any error as a SCIM error (RFC 7644 §3.12), and records the request if it was authenticated. */
export function sendError(deps: ResponseDeps): ErrorRequestHandler {
  return (thrown: unknown, req, res, next) => {
    if (res.headersSent) return next(thrown);
    const { requestId } = requestContext(req);
    const failure = failureOf(thrown);
    const error = toScimError(undecodable(failure), requestId);
    const { status } = error;
    // SCIM's own refusals, such as without any token, are not faults of the database.
    if (failure !== thrown && failure instanceof Refusal && failure.problem.code === 'unavailable') {
      deps.log.error({ reason: failure.problem.reason, requestId }, 'database unavailable');
    }
    if (status === 500) deps.log.error({ err: thrown, requestId }, 'request failed');
    for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
    if (status === 401 && !res.hasHeader('WWW-Authenticate')) res.setHeader('WWW-Authenticate', challengeOf(req));
    write(res, status, error);
    const call: Call | undefined = callOf(res);
    if (call) record(req, call, { status, error, responseBody: undefined, resourceId: undefined }, deps);
  };
}

/** RFC 6750 §3: names the error only if a token was sent. */
function challengeOf(req: Request): string {
  const isSent = /^bearer +\S/i.test(req.get('authorization') ?? '');
  return isSent ? 'Bearer realm="scim", error="invalid_token"' : 'Bearer realm="scim"';
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

function record(
  req: Request,
  { directory, caller, startedAt, body }: Call,
  outcome: Pick<RequestOutcome, 'status' | 'error' | 'responseBody' | 'resourceId'>,
  { requestRecords, clock, log }: ResponseDeps,
): void {
  const resourceId = outcome.resourceId ?? (typeof req.params['id'] === 'string' ? req.params['id'] : undefined);
  const durationMs = clock.now().getTime() - startedAt.getTime();
  const entry = recordOf(req, directory, caller.custom, {
    ...outcome,
    resourceId,
    at: startedAt,
    durationMs,
    requestBody: body,
  });
  requestRecords.add(entry, (err) => log.error({ err }, 'SCIM request not recorded'));
}

/** Express throws a URIError for a path that it cannot decode. */
function undecodable(thrown: unknown): unknown {
  return thrown instanceof URIError ? badRequest('invalidSyntax', 'The path cannot be decoded.') : thrown;
}
