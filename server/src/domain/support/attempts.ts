import type { AuditEvent } from '../audit/audit-event.entity.ts';

/** One attempt to sign in. */
export interface Attempt {
  /** Id of its first event. */
  id: string;
  clientId: string | null;
  startedAt: Date;
  outcome: 'signed-in' | 'refused' | 'unfinished';
  /** Null: its events are older than this id, or are refusals of several sign-ins. */
  signInId: string | null;
  /** Oldest first. */
  steps: AuditEvent[];
}

/** A sign-in lasts ten minutes (`ceremonies.ts`); its messages may arrive, and its tokens be issued, a little later. */
const longestMs = 12 * 60_000;
/** Requests of the application after the sign-in. */
const followUps: readonly string[] = [
  'access.refused',
  'token.issued',
  'token.refused',
  'consent.given',
  'consent.refused',
];
/** Events after the sign-in that still belong to it. */
const trailing: readonly string[] = [...followUps, 'otp.sent'];

/**
 * Groups the events of one person into attempts: by the id of the sign-in. Events without one join the current
 * attempt: it is for one application, ends with the sign-in, and is limited to the lifetime of a sign-in.
 *
 * @returns newest first
 */
export function attemptsOf(events: readonly AuditEvent[]): Attempt[] {
  const attempts: Attempt[] = [];
  for (const event of [...events].sort((one, other) => (one.id < other.id ? -1 : 1))) {
    const open = attemptOf(event, attempts);
    if (open) add(open, event);
    else attempts.push(begun(event));
  }
  return attempts.reverse();
}

function attemptOf(event: AuditEvent, attempts: readonly Attempt[]): Attempt | undefined {
  const id = signInIdOf(event);
  const named = id === null ? undefined : attempts.find(({ signInId }) => signInId === id);
  if (named) return named;
  const underWay = attempts.filter((attempt) => belongs(event, attempt));
  const isFollowUp = followUps.includes(event.type);
  return (isFollowUp && underWay.findLast(({ outcome }) => outcome === 'signed-in')) || underWay.at(-1);
}

function signInIdOf({ detail }: AuditEvent): string | null {
  const id = detail?.['signInId'];
  return typeof id === 'string' ? id : null;
}

function belongs(event: AuditEvent, attempt: Attempt): boolean {
  if (signInIdOf(event) !== null && attempt.signInId !== null) return false;
  const { at, type, clientId } = event;
  const isSame = clientId == null || attempt.clientId === null || attempt.clientId === clientId;
  const isDuring = at.getTime() - attempt.startedAt.getTime() <= longestMs;
  return isSame && isDuring && (attempt.outcome !== 'signed-in' || trailing.includes(type));
}

function begun(event: AuditEvent): Attempt {
  const attempt: Attempt = {
    id: event.id,
    clientId: null,
    startedAt: event.at,
    outcome: 'unfinished',
    signInId: null,
    steps: [],
  };
  add(attempt, event);
  return attempt;
}

function add(attempt: Attempt, event: AuditEvent): void {
  attempt.steps.push(event);
  attempt.clientId ??= event.clientId ?? null;
  attempt.signInId ??= signInIdOf(event);
  if (event.type === 'user.signed_in') attempt.outcome = 'signed-in';
  else if (attempt.outcome !== 'signed-in') {
    if (event.result === 'failure') attempt.outcome = 'refused';
    // The person tried again.
    else if (event.type !== 'otp.sent') attempt.outcome = 'unfinished';
  }
}
