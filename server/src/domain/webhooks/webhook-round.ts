import { AuditEvent } from '../audit/audit-event.entity.ts';
import { type Clock, seconds, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import { subjectsOf } from '../users/identity/sub.ts';
import { isDelivered, isGone, isPausing, maxTries, retries, type WebhookOutcome } from './attempts.ts';
import { payloadOf } from './payload.ts';
import { signedHeaders } from './signature.ts';
import type { Webhook } from './webhook.entity.ts';
import type { WebhookAttempt } from './webhook-delivery.entity.ts';
import { previousSecretPurpose, secretPurpose } from './webhooks.ts';

/** Posts one event; never throws. Takes at most 10 seconds. */
export type PostWebhook = (url: string, body: string, headers: Record<string, string>) => Promise<WebhookOutcome>;

/** A delivery to attempt. */
export interface Due {
  id: string;
  eventId: string;
  orderKey: string;
  tries: number;
}

export interface RoundDeps {
  db: Database;
  clock: Clock;
  random: Random;
  vault: Vault;
  post: PostWebhook;
  onAttempt?: ((result: 'delivered' | 'failed') => void) | undefined;
}

/** No request of a round starts after this long: with the 10 seconds of the last one, it ends before the claim of its process. */
const roundSeconds = 5;
/** Requests to one webhook at a time. */
const parallel = 5;
/** Attempts that a delivery keeps. */
const keptAttempts = 60;

/** Up to a hundred deliveries to one webhook, and their result. */
export class WebhookRound {
  /** Consecutive ones, including those before this round. */
  failures: number;
  lastDeliveredAt: Date | null = null;
  isGone = false;
  /** The first result that could not be written. */
  private fault: { error: unknown } | undefined;
  private readonly endsAt: Date;
  private readonly secrets: string[];

  constructor(
    private readonly deps: RoundDeps,
    private readonly webhook: Webhook,
    private readonly isStopping: () => boolean,
  ) {
    const now = deps.clock.now();
    this.failures = webhook.failures;
    this.endsAt = secondsLater(now, roundSeconds);
    const { id, sealedSecret, sealedPreviousSecret, previousSecretUntil } = webhook;
    const hasPrevious = sealedPreviousSecret != null && previousSecretUntil != null && previousSecretUntil > now;
    this.secrets = [
      deps.vault.open(secretPurpose, id, sealedSecret).toString(),
      ...(hasPrevious ? [deps.vault.open(previousSecretPurpose, id, sealedPreviousSecret).toString()] : []),
    ];
  }

  /** Returns, or throws the error of a result that could not be written, once no request is in progress. */
  async send(due: readonly Due[]): Promise<void> {
    const ids = due.map(({ eventId }) => eventId);
    const projectId = this.webhook.project.id;
    const found = await this.deps.db.reader().find(AuditEvent, { projectId, id: { $in: ids } });
    const userIds = found.flatMap(({ actorId, subjectId }) => [actorId ?? '', subjectId ?? '']);
    const subs = await subjectsOf(this.deps.db.alone, projectId, userIds);
    const events = new Map(found.map((event) => [event.id, event]));
    const subjects = [...Map.groupBy(due, ({ orderKey }) => orderKey).values()];
    const worker = async (): Promise<void> => {
      for (let subject = subjects.shift(); subject; subject = subjects.shift()) {
        for (const one of subject) {
          if (this.isOver()) return;
          if (!(await this.attempt(one, events.get(one.eventId), subs))) break;
        }
      }
    };
    const ending = (error: unknown) => {
      this.fault ??= { error };
    };
    await Promise.all(Array.from({ length: parallel }, () => worker().catch(ending)));
    if (this.fault) throw this.fault.error;
  }

  private isOver(): boolean {
    const isDown = this.failures > this.webhook.failures && isPausing(this.failures);
    return (
      isDown || this.isGone || this.fault !== undefined || this.isStopping() || this.deps.clock.now() >= this.endsAt
    );
  }

  /** @returns whether the next event of this subject may follow */
  private async attempt(due: Due, event: AuditEvent | undefined, subs: ReadonlyMap<string, string>): Promise<boolean> {
    const { clock, onAttempt, post } = this.deps;
    const startedAt = clock.now();
    if (!event) {
      const attempt = { at: startedAt.toISOString(), error: 'the event no longer exists', durationMs: 0 };
      await this.write(due, attempt, 'failed', null);
      return true;
    }
    const body = payloadOf(event, subs);
    const message = { id: event.id, timestampSeconds: seconds(startedAt), body };
    const outcome = await post(this.webhook.url, body, signedHeaders(message, this.secrets));
    const now = clock.now();
    const attempt = {
      at: startedAt.toISOString(),
      ...outcome,
      durationMs: now.getTime() - startedAt.getTime(),
    };
    const isDone = isDelivered(outcome);
    onAttempt?.(isDone ? 'delivered' : 'failed');
    if (isDone) {
      this.failures = 0;
      this.lastDeliveredAt = now;
    } else {
      this.failures += 1;
      this.isGone ||= isGone(outcome);
    }
    const isLast = due.tries + 1 >= maxTries;
    const state = isDone ? 'delivered' : isLast ? 'failed' : 'pending';
    await this.write(
      due,
      attempt,
      state,
      state === 'pending' ? retries.next(now, due.tries + 1, this.deps.random) : null,
    );
    return state !== 'pending';
  }

  private async write(
    { id }: Due,
    attempt: WebhookAttempt,
    state: 'pending' | 'delivered' | 'failed',
    nextAttemptAt: Date | null,
  ): Promise<void> {
    const settledAt = state === 'pending' ? null : this.deps.clock.now();
    const kept = sql`case when jsonb_array_length(attempts) >= ${keptAttempts} then attempts - 0 else attempts end`;
    await execute(
      this.deps.db.alone,
      sql`update webhook_deliveries set attempts = ${kept} || ${JSON.stringify(attempt)}::jsonb, tries = tries + 1,
          state = ${state}, next_attempt_at = ${nextAttemptAt}::timestamptz, settled_at = ${settledAt}::timestamptz
        where project_id = ${this.webhook.project.id} and id = ${id} and state = 'pending'`,
    );
  }
}
