import type { Clock } from '../kernel/clock.ts';
import { secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { execute, query, sql } from '../kernel/statement.ts';
import { RequestRecord } from './request-record.entity.ts';

/** A request as its room saw it: without secrets, texts already cut to size. */
export type RequestEntry = Omit<
  { [Key in keyof RequestRecord]: RequestRecord[Key] },
  'id' | 'project' | keyof symbol
> & {
  projectId: string;
  /** How many of the project's users had been erased when the request came. */
  erasures: number;
};

/** The newest so many of each project are kept. */
export const keptPerProject = 200;
/** And none for longer than this. */
export const keptSeconds = 7 * 24 * 3600;
/** How long a note waits for others, at most. */
const heldMs = 1000;
/** So many do not wait for more. */
const enough = 200;
/** More than this are not held back for the database; the oldest are dropped. */
const maxPending = 1000;

/**
 * What directories have sent of late. Written behind the answers, once a second, so that nobody waits for it and a busy
 * directory does not pay for it each time. A process that is killed takes its last second of notes along. A note that
 * has waited while a user was erased is written without its texts, which may speak of them (decisions/0086).
 */
export class RequestRecords {
  private readonly db: Database;
  private readonly clock: Clock;
  private readonly random: Random;
  private pending: RequestEntry[] = [];
  private writing: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private onError: (error: unknown) => void = () => undefined;
  private readonly unnoted = new Set<string>();

  constructor(db: Database, clock: Clock, random: Random) {
    this.db = db;
    this.clock = clock;
    this.random = random;
  }

  /** Takes note of a request. Never throws, never waits; `onError` hears of notes that could not be written. */
  add(entry: RequestEntry, onError: (error: unknown) => void): void {
    if (this.unnoted.has(entry.tokenId)) return;
    this.onError = onError;
    this.pending.push(entry);
    if (this.pending.length > maxPending) this.pending.shift();
    this.arrange();
  }

  /** Done once everything noted so far is written. */
  async settled(): Promise<void> {
    await this.writing;
    if (this.pending.length > 0) await (this.writing ??= this.write());
  }

  /** Newest first, with what this process has held back. @param before id of the last record of the page before */
  async recent(projectId: string, first: number, before?: string): Promise<RequestRecord[]> {
    await this.settled();
    const older = before === undefined ? {} : { id: { $lt: before } };
    return this.db
      .reader()
      .find(RequestRecord, { project: projectId, ...older }, { orderBy: { id: 'desc' }, limit: first });
  }

  /** Takes no note of what one token sends to this process while `work` lasts: of a test of our own. */
  async without<T>(tokenId: string, work: () => Promise<T>): Promise<T> {
    this.unnoted.add(tokenId);
    try {
      return await work();
    } finally {
      this.unnoted.delete(tokenId);
    }
  }

  /** Drops what is too old. */
  async sweep(): Promise<void> {
    await execute(
      this.db.alone,
      sql`delete from scim_request_records where at < ${secondsLater(this.clock.now(), -keptSeconds)}`,
    );
  }

  /** One write at a time: what comes meanwhile waits for the next. */
  private arrange(): void {
    if (this.writing || this.pending.length === 0) return;
    if (this.pending.length >= enough) this.writing = this.write();
    else this.timer ??= setTimeout(() => void (this.writing ??= this.write()), heldMs).unref();
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batch = this.pending;
    this.pending = [];
    try {
      await this.store(batch);
    } catch (error) {
      this.onError(error);
    } finally {
      this.writing = undefined;
      this.arrange();
    }
  }

  private async store(batch: readonly RequestEntry[]): Promise<void> {
    const projects = [...new Set(batch.map(({ projectId }) => projectId))];
    const tokens = [...new Set(batch.map(({ tokenId }) => tokenId))];
    await this.db.transaction(async (em) => {
      // Losing the last second of this with the power is no loss.
      await execute(em, sql`set local synchronous_commit = off`);
      // Waits for erasures under way. Those that come later wait for this transaction, and find what it has written.
      const locked = await query<{ id: string; erasures: number }>(
        em,
        sql`select id, erasures from projects where id = any(${projects}::uuid[]) order by id for share`,
      );
      const erasures = new Map(locked.map((project) => [project.id, project.erasures]));
      const rows = batch.map(({ erasures: known, ...entry }) => ({
        ...(known === erasures.get(entry.projectId) ? entry : withoutTexts(entry)),
        id: this.random.id(),
      }));
      await execute(
        em,
        sql`insert into scim_request_records (id, project_id, at, token_id, token_name, method, path, resource_id, status,
              scim_type, detail, duration_ms, user_agent, request_body, response_body)
            select (x->>'id')::uuid, p.id, (x->>'at')::timestamptz, (x->>'tokenId')::uuid, x->>'tokenName', x->>'method',
              x->>'path', (x->>'resourceId')::uuid, (x->>'status')::int, x->>'scimType', x->>'detail',
              (x->>'durationMs')::int, x->>'userAgent', x->>'requestBody', x->>'responseBody'
            from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) x
            join projects p on p.id = (x->>'projectId')::uuid`,
      );
      await execute(
        em,
        sql`delete from scim_request_records r using (
              select p.id as project_id,
                (select o.id from scim_request_records o where o.project_id = p.id
                 order by o.id desc offset ${keptPerProject} limit 1) as last
              from unnest(${projects}::uuid[]) as p(id)) kept
            where r.project_id = kept.project_id and r.id <= kept.last`,
      );
      await execute(
        em,
        sql`insert into scim_days as known (project_id, day, requests, refused, failed)
            select p.id, (x.at at time zone 'UTC')::date, count(*), count(*) filter (where x.status between 400 and 499),
              count(*) filter (where x.status >= 500)
            from jsonb_to_recordset(${JSON.stringify(batch.map(({ projectId, at, status }) => ({ projectId, at, status })))}::jsonb) as x("projectId" uuid, at timestamptz, status int)
            join projects p on p.id = x."projectId"
            group by 1, 2 order by 1, 2
            on conflict (project_id, day) do update set requests = known.requests + excluded.requests,
              refused = known.refused + excluded.refused, failed = known.failed + excluded.failed`,
      );
      await execute(
        em,
        sql`update scim_tokens set last_used_at = ${this.clock.now()}
            where id = any(${tokens}::uuid[])
              and (last_used_at is null or last_used_at < ${secondsLater(this.clock.now(), -30)})`,
      );
    });
  }
}

/** What is left where somebody may have been erased whom it speaks of: where it went, not what it said. */
function withoutTexts<Entry extends Pick<RequestEntry, 'path'>>(entry: Entry) {
  const [path = '/'] = /^\/(Users|Groups|Bulk)(\/[0-9a-f-]{36})?(?=$|[/?])/i.exec(entry.path) ?? [];
  return { ...entry, path, detail: null, requestBody: null, responseBody: null };
}
