import type { ErrorRequestHandler, Request, Response } from 'express';
import type { Directory } from '../domain/directories/directories.ts';
import type { RequestRecords } from '../domain/directories/request-records.ts';
import { type Clock, isPast, secondsLater } from '../domain/kernel/clock.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import { requestContext } from '../http/context.ts';
import { bodyFault, failureOf } from '../http/failure.ts';
import { routeLabel } from '../http/routes/route.ts';
import { readStatus, type ScimAnswer, type ScimCaller } from './answer.ts';
import type { AnswerLimits } from './answers/limits.ts';
import { chunkLength, streamed } from './answers/streaming.ts';
import { AnswerText } from './answers/text.ts';
import { type RequestOutcome, recordOf } from './records/recording.ts';
import { ScimError, toScimError } from './scim-error.ts';

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

/** A response that is ready to be sent. */
export interface Prepared {
  answer: ScimAnswer;
  status: number;
  /** Of a body that is written as text, and its first chunk. */
  text: AnswerText | undefined;
  first: string;
}

/** Composes the beginning of the response, all of a short one. Refusals of its body are thrown here. */
export async function prepared(req: Request, answer: ScimAnswer, limits: AnswerLimits): Promise<Prepared> {
  const status = statusOf(req, answer);
  if (!hasBody(status) || !answer.text) return { answer, status, text: undefined, first: '' };
  const text = new AnswerText(answer.text(), limits);
  return { answer, status, text, first: await text.next(limits.held) };
}

/** Sends the response and records the request. @param more reads more of a large body, in turn */
export async function sendAnswer(
  req: Request,
  res: Response,
  { answer, status, text, first }: Prepared,
  deps: ResponseDeps & { limits: AnswerLimits },
  more: <T>(read: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const { resourceId } = answer;
  const { limits, clock, log } = deps;
  const outcome = { status, error: undefined, resourceId };
  const recorded = (error?: ScimError) =>
    record(
      req,
      callOf(res),
      { ...outcome, error, ...(error && { status: error.status }), responseBody: answer.body },
      deps,
    );
  sendHead(res, answer, status);
  if (!text || text.isEnded) {
    writeText(res, text ? first : textOf(status, answer.body));
    return recorded();
  }
  const until = secondsLater(clock.now(), limits.readSeconds);
  const isLate = () => isPast(until, clock.now());
  try {
    const end = await streamed(req, res, first, () => more(() => text.next(chunkLength)), { text, isLate, limits });
    recorded(
      end === 'stalled'
        ? new ScimError(408, 'The client stopped reading the response, and was disconnected.')
        : undefined,
    );
  } catch (error) {
    // The body has begun. Its end is missing, so the client cannot mistake it for the whole.
    res.destroy();
    const { requestId } = requestContext(req);
    const failure = toScimError(failureOf(error), requestId);
    if (failure.status >= 500) log.error({ err: error, requestId }, 'response ended early');
    recorded(failure);
  } finally {
    await text.close();
  }
}

/** Sends a response whose body is an object, and returns its status. */
export function sendResource(req: Request, res: Response, answer: ScimAnswer): number {
  const status = statusOf(req, answer);
  sendHead(res, answer, status);
  writeText(res, textOf(status, answer.body));
  return status;
}

function statusOf(req: Request, { status, version }: ScimAnswer): number {
  const isRead = version !== undefined && (req.method === 'GET' || req.method === 'HEAD');
  return isRead ? readStatus(req.get('if-match'), req.get('if-none-match'), version) : status;
}

const hasBody = (status: number) => status === 200 || status === 201;

function textOf(status: number, body: object | undefined): string | undefined {
  return hasBody(status) && body !== undefined ? JSON.stringify(body) : undefined;
}

function sendHead(res: Response, { version, location }: ScimAnswer, status: number): void {
  if (version !== undefined) res.setHeader('ETag', version);
  if (location !== undefined) res.setHeader('Location', location);
  res.status(status).setHeader('Cache-Control', 'no-store');
}

/** Sends any error as a SCIM error (RFC 7644 §3.12), and records the request if it was authenticated. */
export function sendError(deps: ResponseDeps): ErrorRequestHandler {
  return (thrown: unknown, req, res, next) => {
    if (res.headersSent) return next(thrown);
    const { requestId } = requestContext(req);
    const failure = failureOf(thrown);
    const error = toScimError(unhandled(failure), requestId);
    const { status } = error;
    // SCIM's own refusals, such as of a request without a token, are not faults of the database.
    if (failure !== thrown && failure instanceof Refusal && failure.problem.code === 'unavailable') {
      deps.log.error({ reason: failure.problem.reason, requestId, route: routeLabel(req) }, 'database unavailable');
    }
    if (status === 500) deps.log.error({ err: thrown, requestId, route: routeLabel(req) }, 'request failed');
    for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
    if (status === 401 && !res.hasHeader('WWW-Authenticate')) res.setHeader('WWW-Authenticate', challengeOf(req));
    res.status(status).setHeader('Cache-Control', 'no-store');
    writeText(res, JSON.stringify(error));
    const call: Call | undefined = callOf(res);
    if (call) record(req, call, { status, error, responseBody: undefined, resourceId: undefined }, deps);
  };
}

/** RFC 6750 §3: names the error only if a token was sent. */
function challengeOf(req: Request): string {
  const isSent = /^bearer +\S/i.test(req.get('authorization') ?? '');
  return isSent ? 'Bearer realm="scim", error="invalid_token"' : 'Bearer realm="scim"';
}

const mediaType = 'application/scim+json';

function writeText(res: Response, text: string | undefined): void {
  if (text === undefined) {
    res.end();
    return;
  }
  res.setHeader('Content-Type', mediaType);
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

/** Requests that no operation handled. */
function unhandled(thrown: unknown): unknown {
  const status = bodyFault(thrown);
  return status === undefined ? thrown : new ScimError(status, (thrown as Error).message);
}
