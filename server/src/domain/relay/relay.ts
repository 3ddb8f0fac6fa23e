import { instanceId } from '../audit/audit-event.entity.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { inAllProjects, inProject, withoutTurns } from '../kernel/scope.ts';
import { execute, query } from '../kernel/sql.ts';
import { Turns } from '../limits/turns.ts';
import type { Channel, Claimed, LaneLag } from './channel.ts';
import { claimRows, setBack } from './claims.ts';
import { RoundRobin, type Waiting } from './round-robin.ts';

/** Interval between checks for due deliveries: of other processes, of retries, and of webhooks and log streams. */
const pollMs = 1_000;
const recoverMs = 60_000;
/** A delivery that takes longer counts as slow. */
const slowMs = 500;
/** Database connections that the deliveries of a channel use at a time, and those in its slow lane. */
const [connections, slowConnections] = [6, 2];

type OnError = (error: unknown) => void;

/**
 * Makes the deliveries of one channel: claims due rows, in turn over projects and their receivers (`RoundRobin`), attempts each,
 * and claims more when one ends. A claim lasts for a time, so that another process takes over if this one dies.
 */
export class Relay {
  private readonly turns: RoundRobin;
  private readonly pool = new Turns({ atOnce: connections, waiting: Number.POSITIVE_INFINITY });
  private readonly slowPool = new Turns({ atOnce: slowConnections, waiting: Number.POSITIVE_INFINITY });
  private readonly running = new Set<Promise<void>>();
  private readonly timers: NodeJS.Timeout[] = [];
  private claiming: Promise<number> | undefined;
  /** Whether to check again. */
  private isWoken = false;
  /** Whether more deliveries were due at the last check than its limits allowed. */
  private hasMore = false;
  private isStopping = false;
  private isFailing = false;
  private onError: OnError | undefined;

  constructor(private readonly deps: { db: Database; clock: Clock; channel: Channel }) {
    this.turns = new RoundRobin(deps.channel.lanes);
  }

  /** Delivers from now on, until {@link drain}. */
  open(onError: OnError): void {
    this.onError = onError;
    const recover = () => void this.recover().catch(onError);
    recover();
    this.timers.push(
      setInterval(() => this.wake(), pollMs),
      setInterval(recover, recoverMs),
    );
  }

  /** Checks for due deliveries soon, if the relay is open. Called after the commit that wrote one. */
  readonly wake = (): void => {
    this.isWoken = true;
    const { onError } = this;
    if (this.claiming || !onError || this.isStopping) return;
    this.start(onError).then(
      () => (this.isFailing = false),
      (error: unknown) => {
        // Once for an outage of the database.
        if (!this.isFailing) onError(error);
        this.isFailing = true;
      },
    );
  };

  /** Claims what is due, as far as the limits allow, and starts it without waiting for its end. @returns the number */
  start(onError: OnError): Promise<number> {
    this.claiming ??= inAllProjects(() => withoutTurns(() => this.claimDue(onError))).finally(() => {
      this.claiming = undefined;
      if (this.isWoken) this.wake();
    });
    return this.claiming;
  }

  /** Waits for the deliveries that were started. */
  async settled(): Promise<void> {
    while (this.running.size > 0 || this.claiming) {
      await this.claiming?.catch(() => undefined);
      await Promise.all(this.running);
    }
  }

  /** Starts nothing more, and waits for deliveries in progress. */
  drain(): Promise<void> {
    this.isStopping = true;
    for (const timer of this.timers) clearInterval(timer);
    return this.settled();
  }

  /** Ends the waits of rows whose clock was set back. */
  async recover(): Promise<void> {
    const { channel, clock, db } = this.deps;
    await inAllProjects(async () => {
      for (const wait of channel.waits) await execute(db.alone, setBack(wait, clock.now()));
    });
  }

  /** Pending deliveries of all processes, by lane. */
  lag(): Promise<LaneLag[]> {
    const { channel, clock, db } = this.deps;
    return query(db.alone, channel.lag(clock.now()));
  }

  private async claimDue(onError: OnError): Promise<number> {
    const { channel, clock, db } = this.deps;
    let count = 0;
    for (let isLast = false; !isLast && !this.isStopping; ) {
      this.isWoken = false;
      await channel.prepare?.();
      const waiting = await query(db.alone, channel.waiting(clock.now()));
      const picks = this.turns.plan(waiting);
      const claimed = picks.length === 0 ? [] : await query(db.alone, claimRows(channel, picks, clock.now()));
      for (const one of claimed) this.begin(one, onError);
      this.hasMore = waiting.length > 0;
      count += claimed.length;
      isLast = claimed.length === 0 && !this.isWoken;
    }
    return count;
  }

  private begin(claimed: Claimed, onError: OnError): void {
    const { channel } = this.deps;
    let place: Waiting = claimed;
    this.turns.begin(place);
    const slow = setTimeout(() => {
      place = this.turns.move(place, channel.slowLane ?? place.lane);
      this.continue();
    }, slowMs).unref();
    const pool = claimed.lane === channel.slowLane ? this.slowPool : this.pool;
    const deliver = () => pool.ofConnections('', () => channel.deliver(claimed, () => this.isStopping));
    const { project } = claimed;
    const run: Promise<void> = (project === instanceId ? inAllProjects(deliver) : inProject(project, deliver))
      .catch(onError)
      .finally(() => {
        clearTimeout(slow);
        this.turns.end(place);
        this.running.delete(run);
        this.continue();
      });
    this.running.add(run);
  }

  /** A place is free: another delivery may begin. */
  private continue(): void {
    if (this.hasMore) this.wake();
  }
}
