import { isOfAdmins } from '../../admins/admins-of.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { refuse } from '../../kernel/problem.ts';
import { eachInScope } from '../../kernel/scope.ts';
import { type Executing, query, sql } from '../../kernel/sql.ts';
import type { LimitRule, Limits } from '../../limits/limits.ts';
import type { FreshnessDeps } from '../../sessions/freshness.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { CustomAttributes } from '../../users/custom/custom-attributes.ts';
import { customUrn } from '../../users/custom/definition.ts';
import { type CustomSchema, customValuesOf } from '../../users/custom/values.ts';
import type { User } from '../../users/user.entity.ts';
import { recordOf } from '../../users/user-record.ts';
import type { Users } from '../../users/users.ts';
import { personExport, type Visible } from '../person-export.ts';
import { checkFresh, type OwnChange, underLock } from './own-change.ts';

/** A download reads all rows of a user. */
const downloads: LimitRule = { name: 'own-data.downloads', max: 5, windowSeconds: 3600 };

/** What the file of a user omits of the person export: addresses of applications, notes of admins, and data of other people. */
const withheld: Readonly<Record<string, readonly string[] | 'all'>> = {
  // Bodies of requests of a directory, which may be about several users.
  directoryRequests: 'all',
  logoutDeliveries: ['uri'],
  recoveryGrants: ['reason'],
  messages: ['note', 'userId'],
  eventsAbout: ['actorName'],
  eventsBy: ['actorName', 'subjectId', 'detail'],
};

/** A file for a user, in chunks. */
export interface OwnDataFile {
  name: string;
  chunks: AsyncGenerator<string>;
}

/** A user's copy of their own data (decisions/0372). */
export class OwnData {
  constructor(
    private readonly deps: FreshnessDeps & {
      db: Database;
      clock: Clock;
      audit: Audit;
      limits: Pick<Limits, 'spend'>;
      users: Pick<Users, 'locked'>;
      sessions: Pick<Sessions, 'listLive'>;
      customAttributes: Pick<CustomAttributes, 'current'>;
      issuer: string;
    },
  ) {}

  /** Refuses `forbidden` if the sign-in is not fresh, `too-many`. The rows are read while the file is sent. */
  async download({ actor, visitor }: OwnChange): Promise<OwnDataFile> {
    const { audit, clock, customAttributes, db, issuer, limits } = this.deps;
    const projectId = visitor.project.id;
    const { user, since } = await underLock(this.deps, visitor, async (em, locked, session) => {
      await checkFresh(this.deps, em, locked, session);
      const spent = await limits.spend(em, downloads, `${projectId} ${locked.id}`);
      if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
      audit.record(em, {
        type: 'user.exported',
        actor,
        projectId,
        subject: { kind: 'user', id: locked.id, name: locked.userName },
      });
      return { user: locked, since: await handedOverAt(em, locked) };
    });
    const schema = await customAttributes.current(projectId);
    const about = { exportedAt: clock.now(), issuer, projectId };
    const visible = visibleTo(user, { since, schema });
    const chunks = personExport(() => db.reader(), user, about, visible);
    const stamp = clock.now().toISOString().slice(0, 19).replaceAll(':', '');
    // The tokens that an admin created are for other projects.
    const scope = (await isOfAdmins(db.alone, projectId)) ? 'all' : projectId;
    return { name: `account-data-${stamp}.json`, chunks: eachInScope(scope, chunks) };
  }
}

/** When the account passed to this person; null: no event says so. */
async function handedOverAt(on: Executing, { id, project }: User): Promise<Date | null> {
  const [event] = await query(
    on,
    sql<{ at: Date | string }>`select max(at) as at from audit_log where project_id = ${project.id}::uuid
      and subject_id = ${id}::text and subject_kind = 'user' and type = 'user.handed_over' having max(at) is not null`,
  );
  return event ? new Date(event.at) : null;
}

/** @param options.since rows from before belong to the former person of the account */
function visibleTo(user: User, { since, schema }: { since: Date | null; schema: CustomSchema }): Visible {
  return {
    profile: () => shownProfile(user, schema),
    row: (section, stored) => {
      const hidden = withheld[section] ?? [];
      if (hidden === 'all') return null;
      const row = JSON.parse(stored) as Record<string, unknown>;
      const at = row['createdAt'] ?? row['at'];
      if (since && typeof at === 'string' && new Date(at) < since) return null;
      // Users may share a number.
      if (section === 'messages' && row['userId'] !== null && row['userId'] !== user.id) return null;
      // Other people's actions may be described in their words.
      const isOwn = section !== 'eventsAbout' || row['actorKind'] === 'user' || row['actorKind'] === 'anonymous';
      const kept = Object.entries(row).filter(([name]) => !hidden.includes(name) && (isOwn || name !== 'detail'));
      return JSON.stringify(Object.fromEntries(kept));
    },
  };
}

/** Without the custom attributes that the user may not see. */
function shownProfile(user: User, { attributes: definitions }: CustomSchema): object {
  const { attributes, ...rest } = recordOf(user);
  const seen = definitions.filter(({ returned, visibleTo: who }) => returned !== 'never' && who.includes('user'));
  const names = new Set(seen.map(({ name }) => name));
  const custom = Object.entries(customValuesOf(attributes)).filter(([name]) => names.has(name));
  const { [customUrn]: _, ...others } = attributes;
  return {
    ...rest,
    attributes: custom.length > 0 ? { ...others, [customUrn]: Object.fromEntries(custom) } : others,
  };
}
