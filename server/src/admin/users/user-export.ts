import type { RequestHandler } from 'express';
import { personExport } from '../../domain/accounts/person-export.ts';
import { isOfAdmins } from '../../domain/admins/admins-of.ts';
import type { Audit } from '../../domain/audit/audit.ts';
import type { AdminScope } from '../../domain/kernel/admin-api.ts';
import { found, refuse } from '../../domain/kernel/problem.ts';
import { eachInScope, openProject } from '../../domain/kernel/scope.ts';
import type { CustomAttributes } from '../../domain/users/custom/custom-attributes.ts';
import { User } from '../../domain/users/user.entity.ts';
import {
  countUsers,
  type ExportedUser,
  eachUser,
  exportedProperties,
  type UserFilter,
} from '../../domain/users/user-list.ts';
import { columnOf } from '../../domain/users/user-record.ts';
import { actorOf } from '../../http/context.ts';
import { sendExport, sendJson } from '../../http/export.ts';
import { type AdminCaller, actorFor } from '../api/caller.ts';
import { checkExport, type ExportDeps, exportQuery, exportRoute, formatOf, momentOf } from '../api/export-route.ts';
import type { About } from '../api/ownership.ts';
import { userFilterOf } from './user-filter.ts';

export interface UserExportDeps extends ExportDeps {
  audit: Audit;
  issuer: string;
  customAttributes: CustomAttributes;
}

const columns = Object.fromEntries(
  exportedProperties.map((name) => [columnOf(name), (user: ExportedUser) => user[name]]),
);

const filters = ['search', 'active', 'provenance', 'has_factor', 'has_signed_in', 'is_invited', 'group'] as const;
const moments = ['signed_in_since', 'not_signed_in_since'] as const;

/**
 * `GET /admin/export/users`: the users of `users` as a file, for project admins with a fresh sign-in; recorded as an event.
 * Parameters: `project`, `format` (`csv`, `jsonl`), `search`, and the filters `active`, `provenance`, `has_factor`, `has_signed_in`, `is_invited`, `group`, `signed_in_since`,
 * `not_signed_in_since`.
 */
export function userListExport(deps: UserExportDeps): RequestHandler {
  const { db, audit, customAttributes } = deps;
  return exportRoute(deps, async (req, res, caller) => {
    const get = exportQuery(req, ['project', 'format', ...filters, ...moments]);
    const id = get('project') ?? refuse({ code: 'invalid', field: 'project', reason: 'must be given' });
    const projectId = await openExport(deps, caller, { noun: 'project', id }, 'users:read');
    const format = formatOf(get('format'));
    const filter = filterOf(get);
    const { count: users } = await countUsers(db.reader(), projectId, filter, true);
    // The search text may be a person's name, and the event outlives their erasure.
    const { search, ...shown } = filter;
    await db.transaction(async (em) =>
      audit.record(em, {
        type: 'users.exported',
        actor: actorFor(caller, actorOf(req)),
        projectId,
        detail: { format, users, filter: shown, searched: search !== undefined },
      }),
    );
    const { attributes } = await customAttributes.current(projectId);
    const custom = attributes.flatMap(({ name, returned }) => (returned === 'never' ? [] : [name]));
    const pages = eachInScope(
      projectId,
      eachUser(() => db.reader(), projectId, filter, custom),
    );
    const customColumns = custom.map(
      (name) => [`custom.${name}`, (user: ExportedUser) => user.custom?.[name]] as const,
    );
    const all = { ...columns, ...Object.fromEntries(customColumns) };
    await sendExport(res, { name: `users-${stampOf(deps)}`, format, columns: all, pages });
  });
}

/**
 * `GET /admin/export/users/{id}`: all data about one user, as a JSON object; for project admins with a fresh sign-in,
 * not for applications, and recorded as an event.
 */
export function userExport(deps: UserExportDeps): RequestHandler {
  const { db, clock, audit, issuer } = deps;
  return exportRoute(deps, async (req, res, caller) => {
    exportQuery(req, []);
    const id = String(req.params['id']);
    // Not for applications: it has data of several scopes (events, messages, SCIM requests, hidden attributes).
    const projectId = await openExport(deps, caller, { noun: 'user', id }, null);
    const user = found(await db.reader().findOne(User, { project: projectId, id }), 'user');
    await db.transaction(async (em) =>
      audit.record(em, {
        type: 'user.exported',
        actor: actorFor(caller, actorOf(req)),
        projectId,
        subject: { kind: 'user', id, name: user.userName },
      }),
    );
    const about = { exportedAt: clock.now(), issuer, projectId };
    const chunks = personExport(() => db.reader(), user, about);
    // The tokens that an admin created are for other projects.
    const scope = (await isOfAdmins(db.alone, projectId)) ? 'all' : projectId;
    await sendJson(res, `person-${id}-${stampOf(deps)}.json`, eachInScope(scope, chunks));
  });
}

/** Checks the caller's rights and opens the project, whose id it returns. */
async function openExport(deps: UserExportDeps, caller: AdminCaller, about: About, scope: AdminScope | null) {
  const projectId = await checkExport(deps, caller, 'project_admin', about, { scope, fresh: true });
  if (projectId === null) throw new Error(`a ${about.noun} belongs to a project`);
  openProject(projectId);
  return projectId;
}

/** The time in the name of a file. */
const stampOf = ({ clock }: UserExportDeps) => clock.now().toISOString().slice(0, 19).replaceAll(':', '');

function filterOf(get: (name: string) => string | undefined): UserFilter {
  const flag = (name: string) => {
    const value = get(name);
    if (value !== undefined && value !== 'true' && value !== 'false') {
      refuse({ code: 'invalid', field: name, reason: 'must be true or false' });
    }
    return value === undefined ? undefined : value === 'true';
  };
  const provenance = get('provenance');
  if (provenance !== undefined && provenance !== 'local' && provenance !== 'scim') {
    refuse({ code: 'invalid', field: 'provenance', reason: 'must be local or scim' });
  }
  const wanted = {
    active: flag('active'),
    provenance,
    hasFactor: flag('has_factor'),
    hasSignedIn: flag('has_signed_in'),
    isInvited: flag('is_invited'),
    groupId: get('group'),
    signedInSince: momentOf('signed_in_since', get('signed_in_since')),
    notSignedInSince: momentOf('not_signed_in_since', get('not_signed_in_since')),
  };
  const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  return userFilterOf(get('search'), given);
}
