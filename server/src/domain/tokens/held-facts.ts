import { Cache } from '../kernel/cache.ts';
import type { Clock } from '../kernel/clock.ts';
import type { FoundCode } from './grants/authorization-code.ts';
import type { SessionCodeFacts } from './session-code.ts';

/** Applications without a back end renew their tokens every few minutes. */
const sessionSeconds = 600;
/** The lifetime of a code. */
const codeSeconds = 60;
const maxHeld = 5_000;

/**
 * What this process has read or written a short time ago, and the next request decides on. Only a decision that grants counts:
 * its write compares what was read. Anything else is decided on what is read now (decisions/0080).
 */
export class HeldFacts {
  /** Of sessions and their users, by {@link heldKey} of the cookie's hash. */
  readonly sessions: Cache<Pick<SessionCodeFacts, 'session' | 'user'>>;
  /** Of codes that have not been redeemed, by {@link heldKey} of their hash. */
  readonly codes: Cache<FoundCode>;

  constructor({ clock }: { clock: Clock }) {
    this.sessions = new Cache(clock, sessionSeconds, maxHeld);
    this.codes = new Cache(clock, codeSeconds, maxHeld);
  }
}

export const heldKey = (projectId: string, hash: string) => `${projectId} ${hash}`;
