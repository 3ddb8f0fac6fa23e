import type { Fragment, Statement } from '../kernel/sql.ts';
import type { Lane, Waiting } from './round-robin.ts';

/** A row that this process has claimed. */
export interface Claimed extends Waiting {
  id: string;
  /** Identifies the claim: a later one of the same row has another. */
  token: string;
}

/** A time of a row at which a claim or a pause ends. */
export interface Wait {
  table: string;
  column: string;
  /** SQL: the longest it can lie ahead, in seconds. */
  longestSeconds: Fragment;
  /** SQL: the rows to which that applies. Default: all. */
  where?: Fragment;
}

/** Deliveries that have waited. */
interface Lag {
  /** Number of deliveries that have not ended. */
  pending: number;
  /** Age of the oldest that is due; 0: none is. */
  seconds: number;
}

export interface LaneLag extends Lag {
  /** Name of the lane. */
  lane: string;
}

/** One kind of delivery: its table `t`, its limits, and the function that makes an attempt. */
export interface Channel {
  lanes: readonly Lane[];
  /** Lane in which a delivery counts once it takes long. Absent: its own. */
  slowLane?: number;
  table: string;
  /** SQL: the index of the row's lane. */
  lane: Fragment;
  /** SQL: the project of the row. */
  project: Fragment;
  /** SQL: the receiver of the row. Absent: one for all. */
  receiver?: Fragment;
  /** Lanes, projects and receivers with due rows. */
  waiting(now: Date): Statement<Waiting>;
  /** SQL: the row may be claimed. */
  isDue(now: Date): Fragment;
  /** SQL: assignments that claim the row. */
  claim(now: Date): Fragment;
  /** SQL: the claim's token. */
  token: Fragment;
  waits: readonly Wait[];
  /** Runs before each check for due rows. */
  prepare?(): Promise<void>;
  /**
   * Attempts one claimed delivery, in the scope of its project, and stores the result.
   *
   * @param isEnding whether the process shuts down: a delivery in several steps ends early
   */
  deliver(claimed: Claimed, isEnding: () => boolean): Promise<void>;
  /** By name of the lane. */
  lag(now: Date): Statement<LaneLag>;
}
