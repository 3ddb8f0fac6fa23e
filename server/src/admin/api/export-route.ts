import type { Request, RequestHandler, Response } from 'express';
import { allows, hasAny, roleIn, type WideRole } from '../../domain/admins/permission.ts';
import type { AdminScope } from '../../domain/kernel/admin-api.ts';
import type { Clock } from '../../domain/kernel/clock.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { Refusal, refuse } from '../../domain/kernel/problem.ts';
import { isStorableText } from '../../domain/kernel/secret.ts';
import type { Turns } from '../../domain/limits/turns.ts';
import { requestContext } from '../../http/context.ts';
import { type ExportFormat, exportFormats } from '../../http/export.ts';
import { failureOf } from '../../http/failure.ts';
import { queryOf } from '../../http/parameters.ts';
import type { AdminCaller } from './caller.ts';
import { callerFreshUntil, checkScope } from './caller-checks.ts';
import { type About, ownerOf } from './ownership.ts';
import { sendProblem } from './send-problem.ts';

/** Dependencies of the admin API's downloads. */
export interface ExportDeps {
  db: Database;
  clock: Clock;
  /** Authenticates by bearer token, else by the console's session. */
  callerOf(req: Request): Promise<AdminCaller | null>;
  onBug(error: unknown, requestId: string): void;
  /** As those of the GraphQL API. */
  turns: Turns;
}

const statuses = {
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'too-many': 429,
  unavailable: 503,
} as const;

/** A download: authenticates first; errors have the shape of the GraphQL API's. */
export function exportRoute(
  { callerOf, onBug, turns }: Pick<ExportDeps, 'callerOf' | 'onBug' | 'turns'>,
  send: (req: Request, res: Response, caller: AdminCaller) => Promise<void>,
): RequestHandler {
  return async (req, res) => {
    try {
      const caller = await callerOf(req);
      if (!caller) refuse({ code: 'unauthenticated' });
      // CSRF: a link on another site must not start an export in the admin's name.
      const site = req.get('sec-fetch-site');
      if (caller.kind === 'admin' && site !== undefined && site !== 'same-origin' && site !== 'none') {
        refuse({ code: 'forbidden', reason: 'a browser must request it from the console' });
      }
      await turns.ofConnections(caller.turnsOf, () => send(req, res, caller));
    } catch (thrown) {
      const { requestId } = requestContext(req);
      const failure = failureOf(thrown);
      if (!(failure instanceof Refusal)) onBug(thrown, requestId);
      if (res.headersSent) return void res.destroy();
      if (!(failure instanceof Refusal)) {
        return void res.status(500).json({ errors: [{ message: 'Internal error.' }] });
      }
      const status = statuses[failure.problem.code as keyof typeof statuses] ?? 400;
      sendProblem(req, res.status(status), failure.problem);
    }
  };
}

/**
 * The checks of the GraphQL API; no role in the project: `not-found`. Returns the project's id; null: the instance.
 * @param options `scope`: that an application needs; null: no application may use it
 */
export async function checkExport(
  { db, clock }: Pick<ExportDeps, 'db' | 'clock'>,
  caller: AdminCaller,
  role: WideRole,
  about: About | null,
  options: { scope: AdminScope | null; fresh?: boolean },
): Promise<string | null> {
  const { grants } = caller;
  checkScope(caller, options.scope === null ? [] : [options.scope]);
  if (!hasAny(grants)) refuse({ code: 'forbidden', reason: 'you have no role here' });
  const projectId = about && (await ownerOf(db.alone, about)).projectId;
  if (!allows(grants, projectId === null ? 'owner' : role, projectId)) {
    if (about && roleIn(grants, projectId) === null) refuse({ code: 'not-found', what: about.noun });
    refuse({ code: 'forbidden', reason: `it requires the role ${projectId === null ? 'owner' : role}` });
  }
  const until = callerFreshUntil(caller, clock.now());
  if (options.fresh && until && until <= clock.now()) {
    refuse({ code: 'forbidden', reason: 'it requires a sign-in within the last 15 minutes' });
  }
  return projectId;
}

/** Query parameters, each at most once. Refuses `invalid` for an unknown one. */
export function exportQuery(req: Request, known: readonly string[]): (name: string) => string | undefined {
  const query = new URLSearchParams(queryOf(req));
  for (const [name, value] of query) {
    if (!known.includes(name)) refuse({ code: 'invalid', field: name, reason: 'is not a parameter of this export' });
    if (query.getAll(name).length > 1) refuse({ code: 'invalid', field: name, reason: 'must occur at most once' });
    if (!isStorableText(value)) {
      refuse({ code: 'invalid', field: name, reason: 'must not contain NUL or unpaired surrogates' });
    }
  }
  return (name) => query.get(name) || undefined;
}

export function formatOf(value = 'csv'): ExportFormat {
  if ((exportFormats as readonly string[]).includes(value)) return value as ExportFormat;
  return refuse({ code: 'invalid', field: 'format', reason: `must be ${exportFormats.join(' or ')}` });
}

export function momentOf(name: string, value: string | undefined): Date | undefined {
  if (value === undefined) return undefined;
  const at = new Date(value);
  const isInRange = at.getUTCFullYear() >= 1970 && at.getUTCFullYear() <= 9999;
  if (!/^\d{4}-\d\d-\d\d/.test(value) || !isInRange) {
    refuse({ code: 'invalid', field: name, reason: 'must be an ISO 8601 time' });
  }
  return at;
}
