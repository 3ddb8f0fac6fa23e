import type { AuditEvent } from '../audit/audit-event.entity.ts';

/** One attempt to sign in. */
export interface Attempt {
  /** Id of its first event. */
  id: string;
  clientId: string | null;
  startedAt: Date;
  outcome: 'signed-in' | 'refused' | 'unfinished';
  /** Oldest first. */
  steps: AuditEvent[];
}

/** A sign-in lasts ten minutes (`ceremonies.ts`); its messages may arrive, and its tokens be issued, a little later. */
const longestMs = 12 * 60_000;
/** Events after the sign-in that still belong to it. */
const trailing: readonly string[] = ['token.issued', 'token.refused', 'consent.given', 'consent.refused', 'otp.sent'];

/**
 * Groups the events of one person into attempts: an attempt is for one application, ends with the sign-in, and lasts no
 * longer than a sign-in can. Events without an application, such as sent messages, join the attempt that is under way.
 *
 * @returns newest first
 */
export function attemptsOf(events: readonly AuditEvent[]): Attempt[] {
  const attempts: Attempt[] = [];
  for (const event of [...events].sort((one, other) => (one.id < other.id ? -1 : 1))) {
    const open = attempts.findLast((attempt) => belongs(event, attempt));
    if (open) add(open, event);
    else attempts.push(begun(event));
  }
  return attempts.reverse();
}

function belongs({ at, type, clientId }: AuditEvent, attempt: Attempt): boolean {
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
    steps: [],
  };
  add(attempt, event);
  return attempt;
}

function add(attempt: Attempt, event: AuditEvent): void {
  attempt.steps.push(event);
  attempt.clientId ??= event.clientId ?? null;
  if (event.type === 'user.signed_in') attempt.outcome = 'signed-in';
  else if (attempt.outcome !== 'signed-in') {
    if (event.result === 'failure') attempt.outcome = 'refused';
    // The person tried again.
    else if (event.type !== 'otp.sent') attempt.outcome = 'unfinished';
  }
}
