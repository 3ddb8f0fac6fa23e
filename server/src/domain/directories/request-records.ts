import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { retentionNow } from '../audit/retention-time.ts';
import type { Clock } from '../kernel/clock.ts';
import { secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { inAllProjects } from '../kernel/scope.ts';
import { deleteInBatches, execute, query, sql } from '../kernel/sql.ts';
import { type Home, homeAt, type Place } from '../users/identity/home.ts';
import { hashedMarks } from './concerned.ts';
import { RequestRecord } from './request-record.entity.ts';
import { erasedAmong, lockRecords } from './user-tables.ts';

/** A request without secrets, texts already truncated. */
export type RequestEntry = Omit<
  { [Key in keyof RequestRecord]: RequestRecord[Key] },
  'id' | 'project' | 'organizationId' | 'concerns' | 'ignored' | keyof symbol
> &
  Home & {
    /** The version of the definitions of custom attributes by which hidden values were removed; 0: there were none. */
    schemaVersion: number;
    ignored: string[];
    concerns: string[];
    /** The address of the client. */
    address: string | null;
  };

/** A request as a person sees it who must not see those that it concerns. */
export interface TokenRequest {
  method: string;
  /** Type of the resource; null: none. */
  resource: string | null;
  status: number;
  scimType: string | null;
}

const resources = ['Users', 'Groups', 'Roles', 'Bulk', 'Schemas', 'ResourceTypes', 'ServiceProviderConfig'];

/** Number of records kept per directory. */
const keptPerDirectory = 200;
/** The directory of a record, as the index has it. */
const directoryOfRecord = raw((table) => `coalesce(${table}.organization_id, ${table}.project_id)`);
/** Maximum age of a record. */
const keptSeconds = 7 * 24 * 3600;
/** Maximum time that a record is queued. */
const flushMs = 1000;
/** A queue of this length is written immediately. */
const batchSize = 200;
/** Retention of erasures: much longer than any record is queued. */
const erasuresKeptSeconds = 3600;
/** Beyond this length the queue drops its oldest records. */
const maxPending = 1000;

/**
 * Recent SCIM requests. Queued, and written once a second, so that no request waits. A killed process loses its last
 * second of records. A record is written without texts if, while it was queued, a user whom it concerns was erased, or
 * the definitions of custom attributes were changed.
 */
export class RequestRecords {
  private pending: RequestEntry[] = [];
  private writing: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private onError: (error: unknown) => void = () => undefined;
  private readonly excluded = new Set<string>();

  constructor(private readonly deps: { db: Database; clock: Clock; random: Random }) {}

  /** Queues a record. Never throws; `onError` is called if it cannot be written. */
  add(entry: RequestEntry, onError: (error: unknown) => void): void {
    if (this.excluded.has(entry.tokenId)) return;
    this.onError = onError;
    this.pending.push(entry);
    if (this.pending.length > maxPending) this.pending.shift();
    this.schedule();
  }

  /** Resolves when all records queued so far are written. */
  async settled(): Promise<void> {
    await this.writing;
    if (this.pending.length > 0) await (this.writing ??= this.write());
  }

  /** Newest first, including this process's queue. @param before id of the last record of the previous page */
  async recent(directory: Place, first: number, before?: string): Promise<RequestRecord[]> {
    await this.settled();
    const { organizationId, projectId } = homeAt(directory);
    const older = before === undefined ? {} : { id: { $lt: before } };
    const of = { project: projectId, [directoryOfRecord]: organizationId ?? projectId };
    return this.deps.db.reader().find(RequestRecord, { ...of, ...older }, { orderBy: { id: 'desc' }, limit: first });
  }

  /** The written requests of one token, newest first: at most {@link keptPerDirectory}. Without texts, which may name users. */
  async ofToken(directory: Home, tokenId: string): Promise<TokenRequest[]> {
    const rows = await query(
      this.deps.db.alone,
      sql<Omit<TokenRequest, 'resource'> & { path: string }>`select method, path, status, scim_type as "scimType"
        from scim_request_records where project_id = ${directory.projectId}::uuid
          and coalesce(organization_id, project_id) = ${directory.organizationId ?? directory.projectId}::uuid
          and token_id = ${tokenId}::uuid order by id desc`,
    );
    return rows.map(({ path, ...request }) => ({ ...request, resource: resourceIn(path) }));
  }

  /** Records no request of one token in this process during `work`: for self-tests. */
  async without<T>(tokenId: string, work: () => Promise<T>): Promise<T> {
    this.excluded.add(tokenId);
    try {
      return await work();
    } finally {
      this.excluded.delete(tokenId);
    }
  }

  /** Deletes old records and old erasures. */
  async sweep(): Promise<void> {
    const { clock, db } = this.deps;
    const now = await retentionNow(db, clock);
    await deleteInBatches(db.alone, 'scim_request_records', sql`at < ${secondsLater(now, -keptSeconds)}`);
    await deleteInBatches(db.alone, 'scim_erasures', sql`at < ${secondsLater(now, -erasuresKeptSeconds)}`);
  }

  /** Schedules the next write; one runs at a time. */
  private schedule(): void {
    if (this.writing || this.pending.length === 0) return;
    if (this.pending.length >= batchSize) this.writing = this.write();
    else this.timer ??= setTimeout(() => void (this.writing ??= this.write()), flushMs).unref();
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batch = this.pending;
    this.pending = [];
    try {
      await inAllProjects(() => this.store(batch));
    } catch (error) {
      this.onError(error);
    } finally {
      this.writing = undefined;
      this.schedule();
    }
  }

  private async store(batch: readonly RequestEntry[]): Promise<void> {
    const projects = [...new Set(batch.map(({ projectId }) => projectId))];
    const { clock, db, random } = this.deps;
    await db.transaction(async (em) => {
      // A crash of the database may lose the last second of records. No plan reads all erasures, regardless of the statistics.
      await execute(
        em,
        sql`select set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true)`,
      );
      await countRequests(em, projects, batch);
      // Not earlier: erasures wait until the transaction ends.
      await lockRecords(em, projects);
      const erased = await erasedMarks(em, batch);
      const versions = await schemaVersions(em, projects);
      const rows = batch.map((entry) => {
        const isStale = entry.schemaVersion !== (versions.get(entry.projectId) ?? 0);
        return { ...(isStale || concernsAny(entry, erased) ? withoutTexts(entry) : entry), id: random.id() };
      });
      await insertRecords(em, rows);
      await deleteExcess(em, batch);
      await noteUses(em, batch, clock.now());
    });
  }
}

/** Nothing else of the path, which may name a user. */
function resourceIn(path: string): string | null {
  const [, first = ''] = /^\/(\w+)/.exec(path) ?? [];
  return resources.find((one) => one.toLowerCase() === first.toLowerCase()) ?? null;
}

/** Counts the requests by day. Skips projects that were deleted meanwhile, and keeps the others. */
async function countRequests(em: EntityManager, projects: readonly string[], batch: readonly RequestEntry[]) {
  const answers = JSON.stringify(batch.map(({ projectId, at, status }) => ({ projectId, at, status })));
  await execute(
    em,
    sql`with held as (select id from projects where id = any(${projects}::uuid[]) order by id for key share)
      insert into scim_days as known (project_id, day, requests, refused, failed)
      select p.id, (x.at at time zone 'UTC')::date, count(*),
        count(*) filter (where x.status between 400 and 499),
        count(*) filter (where x.status >= 500)
      from jsonb_to_recordset(${answers}::jsonb) as x("projectId" uuid, at timestamptz, status int)
      join held p on p.id = x."projectId"
      group by 1, 2 order by 1, 2
      on conflict (project_id, day) do update set requests = known.requests + excluded.requests,
        refused = known.refused + excluded.refused, failed = known.failed + excluded.failed`,
  );
}

async function insertRecords(em: EntityManager, rows: readonly (RequestEntry & { id: string })[]) {
  await execute(
    em,
    sql`insert into scim_request_records (id, project_id, organization_id, at, token_id, token_name, method, path, resource_id,
        status, scim_type, detail, duration_ms, user_agent, request_body, response_body, ignored, concerns)
      select (x->>'id')::uuid, p.id, (x->>'organizationId')::uuid, (x->>'at')::timestamptz, (x->>'tokenId')::uuid, x->>'tokenName',
        x->>'method', x->>'path', (x->>'resourceId')::uuid, (x->>'status')::int, x->>'scimType', x->>'detail',
        (x->>'durationMs')::int, x->>'userAgent', x->>'requestBody', x->>'responseBody',
        array(select jsonb_array_elements_text(x->'ignored')), array(select jsonb_array_elements_text(x->'concerns'))
      from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) x
      join projects p on p.id = (x->>'projectId')::uuid`,
  );
}

/**
 * Deletes the oldest records, beyond the number that a directory keeps. Without waiting: the next batch deletes locked
 * rows.
 */
async function deleteExcess(em: EntityManager, batch: readonly RequestEntry[]) {
  const directories = new Map(
    batch.map(({ projectId, organizationId }) => [organizationId ?? projectId, projectId] as const),
  );
  const of = (record: string) =>
    sql`${sql.ref(`${record}.project_id`)} = d.project_id
      and coalesce(${sql.ref(`${record}.organization_id`)}, ${sql.ref(`${record}.project_id`)}) = d.id`;
  await execute(
    em,
    sql`delete from scim_request_records r using (
        select o.project_id, o.id from unnest(${[...directories.values()]}::uuid[], ${[...directories.keys()]}::uuid[]) as d(project_id, id)
        join scim_request_records o on ${of('o')} and o.id <= (
          select l.id from scim_request_records l where ${of('l')}
          order by l.id desc offset ${keptPerDirectory} limit 1)
        for update of o skip locked) old
      where r.project_id = old.project_id and r.id = old.id`,
  );
}

/** Writes the last use of each token, at most every 30 seconds from one address. */
async function noteUses(em: EntityManager, batch: readonly RequestEntry[], now: Date) {
  const uses = new Map(
    batch.map(({ projectId, tokenId, address }) => [tokenId, { projectId, tokenId, address }] as const),
  );
  await execute(
    em,
    sql`update scim_tokens t set last_used_at = ${now}, last_used_address = u.address
      from jsonb_to_recordset(${JSON.stringify([...uses.values()])}::jsonb)
        as u("projectId" uuid, "tokenId" uuid, address text)
      where t.project_id = u."projectId" and t.id = u."tokenId" and (t.last_used_at is null
        or t.last_used_at < ${secondsLater(now, -30)} or t.last_used_address is distinct from u.address)`,
  );
}

/** The hashed marks of these entries that belong to recently erased users. */
async function erasedMarks(em: EntityManager, batch: readonly RequestEntry[]): Promise<Set<string>> {
  const marks = batch.flatMap(({ projectId, concerns }) => hashedMarks(projectId, concerns));
  const rows = await query(em, erasedAmong([...new Set(marks)]), { prepare: 'request-records.erased' });
  return new Set(rows.map(({ mark }) => mark));
}

/**
 * The versions of the definitions of custom attributes, by project. Sound only under the lock of {@link lockRecords}: a
 * change that hides an attribute holds it until it is committed, and clears the records of its project. So a batch is
 * either written before, and cleared; or it reads the new version here, and its entries of an older version lose their
 * texts.
 */
async function schemaVersions(em: EntityManager, projectIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await query(
    em,
    sql<{ id: string; version: number }>`select project_id as id, version from custom_schemas
      where project_id = any(${projectIds}::uuid[])`,
    { prepare: 'request-records.schemas' },
  );
  return new Map(rows.map(({ id, version }) => [id, version]));
}

function concernsAny({ projectId, concerns }: RequestEntry, erased: ReadonlySet<string>): boolean {
  return erased.size > 0 && hashedMarks(projectId, concerns).some((mark) => erased.has(mark));
}

/** Keeps the resource type and id of the path; drops all texts. */
function withoutTexts(entry: RequestEntry): RequestEntry {
  const [path = '/'] = /^\/(Users|Groups|Bulk)(\/[0-9a-f-]{36})?(?=$|[/?])/i.exec(entry.path) ?? [];
  return { ...entry, path, detail: null, requestBody: null, responseBody: null, ignored: [], concerns: [] };
}
