import type { MemberChoice } from '../access/member-choices.ts';
import { Cache } from '../kernel/cache.ts';
import type { Clock } from '../kernel/clock.ts';
import type { SessionProof, SessionTimes, UserFacts } from '../policy/session.ts';
import type { Grantee, UserGrantRow } from './grants/grant.ts';
import type { SignInFactsRow } from './sign-in-facts.ts';

/** All that decides whether a session gets a code. The client and its project are those of the request: the read checks them. */
export interface SessionCodeFacts {
  session: SessionProof & SessionTimes & { id: string; authTime: Date; freshAt: Date | null; moment: number };
  user: UserFacts & { id: string; userNameKey: string; emailKey: string | null; grantee: Grantee };
  /** Whether the user has access to the client without an organization (decisions/0371). */
  hasAccess: boolean;
  /** The organizations in which the user has access; if the request names one, only that. */
  choices: readonly MemberChoice[];
  /** Whether the user allows the client the scope in the first of `choices`, or need not be asked. */
  isAllowed: boolean;
}

/** A code with its user, session and consent. Its client is the request's, whose version the write compares. */
export interface FoundCode extends UserGrantRow, Partial<SignInFactsRow> {
  id: string;
  redirect_uri: string | null;
  code_challenge: string | null;
  dpop_jkt: string | null;
  nonce: string | null;
  grant_id: string | null;
  expires_at: Date | string;
  used_at: Date | string | null;
  revoked_at: Date | string | null;
  has_access: boolean;
  is_allowed: boolean;
  session_is_live: boolean | null;
}

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
