import { processSkewSeconds, secondsLater } from '../kernel/clock.ts';
import { type Fragment, type Statement, sql } from '../kernel/sql.ts';
import type { Channel, Claimed, LaneLag, Wait } from './channel.ts';
import type { Picked, Waiting } from './round-robin.ts';

type Source = Pick<Channel, 'table' | 'lane' | 'receiver'>;

/**
 * The lanes, projects and receivers of pending rows, by a loose index scan: one step for each, however many rows it has.
 * Needs an index on lane, `project_id`, receiver and `next_attempt_at`, with the condition `isPending`.
 */
export function waitingRows({ table, lane, receiver }: Source, isPending: Fragment, now: Date): Statement<Waiting> {
  const key = [lane, sql`t.project_id`, ...(receiver ? [receiver] : [])];
  const names = ['lane', 'project', ...(receiver ? ['receiver'] : [])];
  const columns = sql.join(key.map((column, at) => sql`${column} as ${sql.id(names[at] as string)}`));
  const order = sql.join([...key, sql`t.next_attempt_at`]);
  const first = (after: Fragment) => sql`(select ${columns}, t.next_attempt_at as due_at from ${sql.table(table)} t
    where ${isPending} ${after} order by ${order} limit 1)`;
  const next = sql`and (${sql.join(key)}) > (${sql.join(names.map((name) => sql.id('head', name)))})`;
  return sql`with recursive head as (${first(sql``)} union all
      select next.* from head cross join lateral ${first(next)} next)
    select lane, project, ${receiver ? sql`receiver::text` : sql`''`} as receiver from head where due_at <= ${now}`;
}

/** Claims rows, each for one process, oldest first. Rows that another process is claiming are skipped. */
export function claimRows(channel: Channel, picks: readonly Picked[], now: Date): Statement<Claimed> {
  const { lane, project, receiver, token } = channel;
  const table = sql.table(channel.table);
  const ofReceiver = receiver ? sql`and ${receiver} = p.receiver::uuid` : sql``;
  return sql<Claimed>`with due as (
      select p.lane, p.project, p.receiver, d.id
      from unnest(${picks.map((one) => one.lane)}::int[], ${picks.map((one) => one.project)}::uuid[],
        ${picks.map((one) => one.receiver)}::text[], ${picks.map(({ count }) => count)}::int[]) as p(lane, project, receiver, count)
      cross join lateral (
        select t.id from ${table} t
        where ${lane} = p.lane and ${project} = p.project ${ofReceiver} and ${channel.isDue(now)}
        order by t.next_attempt_at limit p.count for update skip locked) d)
    update ${table} t set ${channel.claim(now)} from due where t.id = due.id and ${project} = due.project
    returning due.lane, due.project, due.receiver, t.id, ${token}::text as token`;
}

/**
 * Ends waits that lie further ahead than is possible: the clock was ahead when they began, and has been set back.
 */
export function setBack({ table, column, longestSeconds, where }: Wait, now: Date): Fragment {
  const until = sql.id('t', column);
  return sql`update ${sql.table(table)} t set ${sql.id(column)} = ${now}
    where ${where ?? sql`true`} and ${until} > ${secondsLater(now, processSkewSeconds)}
      and ${until} > ${secondsLater(now, processSkewSeconds)}::timestamptz + make_interval(secs => (${longestSeconds})::float8)`;
}

/** Pending rows and the age of the oldest due one, by lane. */
export function lagOfRows(channel: Source & Pick<Channel, 'lanes'>, isPending: Fragment, now: Date) {
  const names = sql`(${channel.lanes.map(({ name }) => name)}::text[])`;
  return sql<LaneLag>`select ${names}[${channel.lane} + 1] as lane, count(*)::int as pending,
      coalesce(greatest(extract(epoch from ${now}::timestamptz - min(t.next_attempt_at)), 0), 0)::float8 as seconds
    from ${sql.table(channel.table)} t where ${isPending} group by 1`;
}
