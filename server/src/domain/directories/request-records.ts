import type { Clock } from '../kernel/clock.ts';
import { secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { execute, sql } from '../kernel/statement.ts';
import { RequestRecord } from './request-record.entity.ts';

/** A request as its room saw it: without secrets, texts already cut to size. */
export type RequestEntry = Omit<
  { [Key in keyof RequestRecord]: RequestRecord[Key] },
  'id' | 'project' | keyof symbol
> & { projectId: string };

/** The newest so many of each project are kept. */
export const keptPerProject = 200;
/** And none for longer than this. */
export const keptSeconds = 7 * 24 * 3600;
/** More than this are not held back for the database; the oldest are dropped. */
const maxPending = 1000;

/** What directories have sent of late. Written behind the answers, several at once, so that nobody waits for it. */
export class RequestRecords {
  private readonly db: Database;
  private readonly clock: Clock;
  private readonly random: Random;
  private pending: RequestEntry[] = [];
  private writing: Promise<void> | undefined;
  private readonly unnoted = new Set<string>();

  constructor(db: Database, clock: Clock, random: Random) {
    this.db = db;
    this.clock = clock;
    this.random = random;
  }

  /** Takes note of a request. Never throws, never waits; `onError` hears of notes that could not be written. */
  add(entry: RequestEntry, onError: (error: unknown) => void): void {
    if (this.unnoted.has(entry.tokenId)) return;
    this.pending.push(entry);
    if (this.pending.length > maxPending) this.pending.shift();
    this.writing ??= this.write(onError).finally(() => {
      this.writing = undefined;
    });
  }

  /** Done once everything noted so far is written. */
  async settled(): Promise<void> {
    while (this.writing) await this.writing;
  }

  /** Newest first. @param before id of the last record of the page before */
  async recent(projectId: string, first: number, before?: string): Promise<RequestRecord[]> {
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
      this.db.reader(),
      sql`delete from scim_request_records where at < ${secondsLater(this.clock.now(), -keptSeconds)}`,
    );
  }

  private async write(onError: (error: unknown) => void): Promise<void> {
    // Whatever else this turn brings goes with it.
    await Promise.resolve();
    while (this.pending.length > 0) {
      const batch = this.pending;
      this.pending = [];
      try {
        await this.store(batch);
      } catch (error) {
        onError(error);
      }
    }
  }

  private async store(batch: readonly RequestEntry[]): Promise<void> {
    const rows = batch.map((entry) => ({ ...entry, id: this.random.id() }));
    const projects = [...new Set(batch.map(({ projectId }) => projectId))];
    const tokens = [...new Set(batch.map(({ tokenId }) => tokenId))];
    await this.db.transaction(async (em) => {
      // Losing the last second of this with the power is no loss.
      await execute(em, sql`set local synchronous_commit = off`);
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
            from jsonb_to_recordset(${JSON.stringify(batch)}::jsonb) as x("projectId" uuid, at timestamptz, status int)
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
