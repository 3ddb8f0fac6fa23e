import type { RequestHandler } from 'express';
import type { Audit } from '../../domain/audit/audit.ts';
import { type EventFilter, type EventRecord, eachEvent } from '../../domain/audit/events.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { eachInScope, inScope } from '../../domain/kernel/scope.ts';
import { actorOf } from '../../http/context.ts';
import { type ExportFormat, sendExport } from '../../http/export.ts';
import { actorFor } from '../api/caller.ts';
import { checkExport, type ExportDeps, exportQuery, exportRoute, formatOf, momentOf } from '../api/export-route.ts';
import { eventFilter } from './event-filter.ts';

export interface EventExportDeps extends ExportDeps {
  audit: Audit;
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
 * `GET /export/events`, mounted at `/admin`: the events of `auditEvents` as a file. Parameters: `project` (absent: the
 * whole instance, for owners), `format` (`csv`, `jsonl`), and the filters `type` (comma-separated), `result`, `user`,
 * `actor`, `subject`, `client`, `request`, `signIn`, `since`, `until`. The export is recorded as an event.
 */
export function eventExport(deps: EventExportDeps): RequestHandler {
  const { db, clock, audit } = deps;
  return exportRoute(deps, async (req, res, caller) => {
    const { project, format, filter } = read(exportQuery(req, ['project', 'format', ...parameters]));
    const about = project === null ? null : ({ noun: 'project', id: project } as const);
    const projectId = await checkExport(deps, caller, 'project_viewer', about, { scope: 'audit:read' });
    // Without a project, the events of all.
    const scope = projectId ?? 'all';
    await inScope(scope, () =>
      db.transaction(async (em) =>
        audit.record(em, {
          type: 'audit.exported',
          actor: actorFor(caller, actorOf(req)),
          ...(projectId === null ? {} : { projectId }),
          detail: { format, filter: shown(filter) },
        }),
      ),
    );
    const name = `events-${clock.now().toISOString().slice(0, 19).replaceAll(':', '')}`;
    const pages = eachInScope(
      scope,
      eachEvent(() => db.reader(), projectId, { until: clock.now(), ...filter }),
    );
    await sendExport(res, { name, format, columns, pages });
  });
}

const parameters = [
  'type',
  'result',
  'user',
  'actor',
  'subject',
  'client',
  'request',
  'signIn',
  'since',
  'until',
] as const;

function read(get: (name: string) => string | undefined): {
  project: string | null;
  format: ExportFormat;
  filter: EventFilter;
} {
  const format = formatOf(get('format'));
  const result = get('result');
  if (result !== undefined && result !== 'success' && result !== 'failure') {
    refuse({ code: 'invalid', field: 'result', reason: 'must be success or failure' });
  }
  const filter = {
    types: get('type')?.split(',').filter(Boolean),
    result,
    userId: get('user'),
    actorId: get('actor'),
    subjectId: get('subject'),
    clientId: get('client'),
    requestId: get('request'),
    signInId: get('signIn'),
    organizationId: get('organization'),
    since: momentOf('since', get('since')),
    until: momentOf('until', get('until')),
  } satisfies EventFilter;
  const wanted = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as EventFilter;
  return { project: get('project') ?? null, format, filter: eventFilter(wanted) };
}

function shown(filter: EventFilter): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  );
}
