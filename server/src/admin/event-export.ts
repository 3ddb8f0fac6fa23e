import { type Request, type RequestHandler, Router } from 'express';
import { allows, hasAny, roleIn } from '../domain/admins/permission.ts';
import type { Audit } from '../domain/audit/audit.ts';
import { type EventFilter, type EventRecord, eachEvent } from '../domain/audit/events.ts';
import type { Clock } from '../domain/kernel/clock.ts';
import type { Database } from '../domain/kernel/database.ts';
import { Refusal, refuse } from '../domain/kernel/problem.ts';
import { isStorableText, isUuid } from '../domain/kernel/secret.ts';
import { actorOf, requestContext } from '../http/context.ts';
import { type ExportFormat, exportFormats, sendExport } from '../http/export.ts';
import { failureOf } from '../http/failure.ts';
import { queryOf } from '../http/parameters.ts';
import { actorFor, type Caller } from './caller.ts';
import { eventFilter } from './event-filter.ts';
import { errorFor } from './graphql-error.ts';
import { projectOf } from './ownership.ts';

export interface EventExportDeps {
  db: Database;
  clock: Clock;
  audit: Audit;
  /** By bearer token, else by the console's session. */
  callerOf(req: Request): Promise<Caller | null>;
  onBug(error: unknown, requestId: string): void;
}

const columns: { [header: string]: (event: EventRecord) => unknown } = {
  at: ({ at }) => at,
  type: ({ type }) => type,
  result: ({ result }) => result,
  actor_kind: ({ actorKind }) => actorKind,
  actor_id: ({ actorId }) => actorId,
  actor_name: ({ actorName }) => actorName,
  subject_kind: ({ subjectKind }) => subjectKind,
  subject_id: ({ subjectId }) => subjectId,
  subject_name: ({ subjectName }) => subjectName,
  client_id: ({ clientId }) => clientId,
  client_name: ({ clientName }) => clientName,
  project_id: ({ projectId }) => projectId,
  ip: ({ ip }) => ip,
  user_agent: ({ userAgent }) => userAgent,
  request_id: ({ requestId }) => requestId,
  detail: ({ detail }) => detail,
};

/**
 * `GET /export/events`, mounted at `/admin`: the events that `auditEvents` lists, as a file. `project` (absent: all of
 * the instance, for owners), `format` (`csv`, `jsonl`), and the filters `type` (several with commas), `result`, `user`,
 * `actor`, `subject`, `client`, `request`, `since`, `until`. The export itself is an event.
 */
export function eventExport({ db, clock, audit, callerOf, onBug }: EventExportDeps): Router {
  const handle: RequestHandler = async (req, res) => {
    try {
      const caller = await callerOf(req);
      if (!caller) refuse({ code: 'unauthenticated' });
      // A link on another site would have this browser fetch the file, and the log say that its owner wanted it.
      const site = req.get('sec-fetch-site');
      if (caller.kind === 'admin' && site !== undefined && site !== 'same-origin' && site !== 'none') {
        refuse({ code: 'forbidden', reason: 'a browser must ask for it from the console itself' });
      }
      const { projectId, format, filter } = read(new URLSearchParams(queryOf(req)));
      await checkRole(db, caller, projectId);
      await db.transaction(async (em) =>
        audit.record(em, {
          type: 'audit.exported',
          actor: actorFor(caller, actorOf(req)),
          ...(projectId === null ? {} : { projectId }),
          detail: { format, filter: shown(filter) },
        }),
      );
      const name = `events-${clock.now().toISOString().slice(0, 19).replaceAll(':', '')}`;
      const pages = eachEvent(() => db.reader(), projectId, { until: clock.now(), ...filter });
      await sendExport(res, { name, format, columns, pages });
    } catch (thrown) {
      const { requestId } = requestContext(req);
      const failure = failureOf(thrown);
      if (!(failure instanceof Refusal)) onBug(thrown, requestId);
      if (res.headersSent) return void res.destroy();
      const { problem } = failure instanceof Refusal ? failure : { problem: undefined };
      if (!problem) return void res.status(500).json({ errors: [{ message: 'Something went wrong here.' }] });
      const { message, extensions } = errorFor(problem);
      if (problem.code === 'unauthenticated') res.setHeader('WWW-Authenticate', 'Bearer');
      const statuses = { unauthenticated: 401, forbidden: 403, 'not-found': 404, unavailable: 503 } as const;
      const status = statuses[problem.code as keyof typeof statuses] ?? 400;
      res.status(status).json({ errors: [{ message, extensions: { ...extensions, requestId } }] });
    }
  };
  const router = Router();
  router.get('/export/events', handle);
  return router;
}

/** As `auditEvents` is guarded: whoever has no role there hears the same as where nothing is. */
async function checkRole(db: Database, { grants }: Caller, projectId: string | null): Promise<void> {
  if (!hasAny(grants)) refuse({ code: 'forbidden', reason: 'you have no role here' });
  if (projectId !== null) await projectOf(db.reader(), { noun: 'project', id: projectId });
  if (allows(grants, projectId === null ? 'owner' : 'project_viewer', projectId)) return;
  if (projectId !== null && roleIn(grants, projectId) === null) refuse({ code: 'not-found', what: 'project' });
  refuse({ code: 'forbidden', reason: 'it needs the role owner' });
}

const parameters = ['type', 'result', 'user', 'actor', 'subject', 'client', 'request', 'since', 'until'] as const;

function read(query: URLSearchParams): { projectId: string | null; format: ExportFormat; filter: EventFilter } {
  for (const [name, value] of query) {
    const isKnown = name === 'project' || name === 'format' || (parameters as readonly string[]).includes(name);
    if (!isKnown) refuse({ code: 'invalid', field: name, reason: 'is no parameter of an export' });
    if (query.getAll(name).length > 1) refuse({ code: 'invalid', field: name, reason: 'must come once' });
    if (!isStorableText(value))
      refuse({ code: 'invalid', field: name, reason: 'must not hold NUL or half a character' });
  }
  const get = (name: string) => query.get(name) || undefined;
  const format = get('format') ?? 'csv';
  if (!(exportFormats as readonly string[]).includes(format)) {
    refuse({ code: 'invalid', field: 'format', reason: `must be ${exportFormats.join(' or ')}` });
  }
  const result = get('result');
  if (result !== undefined && result !== 'success' && result !== 'failure') {
    refuse({ code: 'invalid', field: 'result', reason: 'must be success or failure' });
  }
  const project = get('project');
  if (project !== undefined && !isUuid(project)) refuse({ code: 'not-found', what: 'project' });
  const moment = (name: string): Date | undefined => {
    const value = get(name);
    if (value === undefined) return undefined;
    const at = new Date(value);
    const isInRange = at.getUTCFullYear() >= 1970 && at.getUTCFullYear() <= 9999;
    if (!/^\d{4}-\d\d-\d\d/.test(value) || !isInRange) {
      refuse({ code: 'invalid', field: name, reason: 'must be a time as ISO 8601 has it' });
    }
    return at;
  };
  const filter = {
    types: get('type')?.split(',').filter(Boolean),
    result,
    userId: get('user'),
    actorId: get('actor'),
    subjectId: get('subject'),
    clientId: get('client'),
    requestId: get('request'),
    since: moment('since'),
    until: moment('until'),
  } satisfies EventFilter;
  const wanted = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as EventFilter;
  return { projectId: project ?? null, format: format as ExportFormat, filter: eventFilter(wanted) };
}

function shown(filter: EventFilter): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  );
}
