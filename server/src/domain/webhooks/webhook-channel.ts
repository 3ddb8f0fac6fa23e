import { adminsOf } from '../admins/admins-of.ts';
import type { Audit } from '../audit/audit.ts';
import { notifyEverywhere } from '../ceremonies/notices.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { system } from '../kernel/actor.ts';
import { secondsLater } from '../kernel/clock.ts';
import { inAllProjects } from '../kernel/scope.ts';
import { execute, type Fragment, query, sql } from '../kernel/sql.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import { atKey, keyIn } from '../projects/tenant.ts';
import type { Claimed, LaneLag, Wait } from '../relay/channel.ts';
import { pauses, ReceiverChannel } from '../relay/receiver-channel.ts';
import type { Lane } from '../relay/round-robin.ts';
import { failuresBeforePause, isPausing, maxFailingSeconds, retries } from './attempts.ts';
import { type DisabledReason, Webhook } from './webhook.entity.ts';
import { type Due, type RoundDeps, WebhookRound } from './webhook-round.ts';
import { entry, hostOf, ofWebhook } from './webhooks.ts';

const batch = 100;
/** A webhook that accepts some events is not disabled: only the events it refuses fail. */
const failuresBeforeDisabled = 20;

/** Limits mails about disabled webhooks of a project: a webhook can be enabled and disabled any number of times. */
const mails: LimitRule = { name: 'webhook-disabled-mails', max: 20, windowSeconds: 24 * 3600 };

export interface WebhookChannelDeps extends RoundDeps {
  audit: Audit;
  limits: Pick<Limits, 'spend'>;
  delivery: Delivery;
}

/**
 * Delivers events to webhooks, at least once and in order for each subject (decisions/0165). A webhook is claimed as a whole;
 * its process sends the events of a subject one after another, and those of several subjects in parallel. A failed delivery
 * holds back only later ones of its subject. Webhooks whose last attempt failed have their own lane.
 */
export class WebhookChannel extends ReceiverChannel<WebhookChannelDeps> {
  readonly lanes: readonly Lane[] = [
    { name: 'webhooks', atOnce: 200, ofProject: 20, ofReceiver: 1 },
    { name: 'webhooks-slow', atOnce: 1000, ofProject: 20, ofReceiver: 1 },
  ];
  readonly table = 'webhooks';
  readonly project = sql`t.project_id`;
  protected readonly isEnabled = sql`t.disabled_reason is null`;

  override get waits(): readonly Wait[] {
    const where = sql`t.state = 'pending'`;
    const longestSeconds = retries.longest(sql`t.tries`);
    return [...super.waits, { table: 'webhook_deliveries', column: 'next_attempt_at', where, longestSeconds }];
  }

  protected hasDue(now: Date) {
    return sql`exists (select 1 from webhook_deliveries d
      where d.project_id = t.project_id and d.webhook_id = t.id and ${isReady(now)})`;
  }

  lag(now: Date) {
    return sql<LaneLag>`
      select case when failures = 0 then 'webhooks' else 'webhooks-slow' end as lane, sum(pending)::int as pending,
        coalesce(max(seconds), 0)::float8 as seconds
      from webhooks t cross join lateral (
        select count(*) as pending, extract(epoch from ${now}::timestamptz - min(d.next_attempt_at)
          filter (where ${isReady(now)})) as seconds
        from webhook_deliveries d where d.project_id = t.project_id and d.webhook_id = t.id and d.state = 'pending') d
      where t.disabled_reason is null group by 1`;
  }

  protected async round({ project, id, token: lease }: Claimed, isEnding: () => boolean): Promise<boolean> {
    const webhook = await this.deps.db.reader().findOne(Webhook, atKey(keyIn(project, id)));
    const due = webhook ? await this.due(webhook) : [];
    if (!webhook || due.length === 0) return false;
    const round = new WebhookRound(this.deps, webhook, isEnding);
    await round.send(due);
    return (await this.settle(webhook, lease, round)) && due.length === batch;
  }

  /** Deliveries whose subject has no earlier one that waits for its retry, oldest first. */
  private due(webhook: Webhook): Promise<Due[]> {
    const now = this.deps.clock.now();
    const isProbe = isPausing(webhook.failures);
    const order = isProbe ? sql`d.tries, d.queued_at, d.id` : sql`d.queued_at, d.id`;
    return query(
      this.deps.db.alone,
      sql<Due>`select d.id, d.event_id as "eventId", d.order_key as "orderKey", d.tries
        from webhooks t join webhook_deliveries d on d.project_id = t.project_id and d.webhook_id = t.id
        where t.project_id = ${webhook.project.id} and t.id = ${webhook.id} and ${isReady(now)}
        order by ${order} limit ${isProbe ? 1 : batch}`,
    );
  }

  /** Saves the result of a round. @returns whether to continue */
  private async settle(webhook: Webhook, lease: string, round: WebhookRound): Promise<boolean> {
    const { clock, db, random } = this.deps;
    const now = clock.now();
    const { failures, lastDeliveredAt } = round;
    const failingSince = failures === 0 ? null : lastDeliveredAt ? now : (webhook.failingSince ?? now);
    if (round.isGone) return this.disable(webhook, lease, 'gone', failingSince ?? now);
    const isTooLong = failingSince !== null && secondsLater(failingSince, maxFailingSeconds) <= now;
    if (isTooLong && failures >= failuresBeforeDisabled) {
      return this.disable(webhook, lease, 'failures', failingSince);
    }
    const pause = isPausing(failures) ? pauses.next(now, failures - failuresBeforePause + 1, random) : null;
    const written = await execute(
      db.alone,
      sql`update webhooks set failures = ${failures}, failing_since = ${failingSince}, next_attempt_at = ${pause},
          last_delivered_at = coalesce(${lastDeliveredAt}::timestamptz, last_delivered_at)
        where ${asSent(webhook, lease)}`,
    );
    if (written === 0) return true;
    if (isPausing(webhook.failures) && failures === 0) {
      await execute(
        db.alone,
        sql`update webhook_deliveries set next_attempt_at = ${now}
          where ${ofWebhook(webhook)} and state = 'pending' and next_attempt_at > ${now}`,
      );
    }
    return pause === null;
  }

  /** Its waiting deliveries fail; an admin can enable it and replay them. */
  private async disable(webhook: Webhook, lease: string, reason: DisabledReason, since: Date): Promise<false> {
    const { audit, clock, db, delivery, limits } = this.deps;
    const now = clock.now();
    const projectId = webhook.project.id;
    // Admins are users of another project.
    await inAllProjects(() =>
      db.transaction(async (em) => {
        const disabled = await execute(
          em,
          sql`update webhooks set disabled_reason = ${reason}, updated_at = ${now}
            where ${asSent(webhook, lease)} and disabled_reason is null`,
        );
        if (disabled === 0) return;
        await execute(
          em,
          sql`update webhook_deliveries set state = 'failed', settled_at = ${now}, next_attempt_at = null
            where ${ofWebhook(webhook)} and state = 'pending'`,
        );
        const detail = { reason, failingSince: since.toISOString() };
        audit.record(em, { ...entry('webhook.disabled', webhook, system, detail), result: 'failure' });
        if (!(await limits.spend(em, mails, projectId)).allowed) return;
        const { name: app } = await em.findOneOrFail(Project, projectId);
        const content = {
          ...({ template: 'webhook-disabled', app, webhook: hostOf(webhook.url) } as const),
          ...{ since: since.toISOString(), at: now.toISOString() },
        };
        for (const admin of await adminsOf(em, projectId)) await notifyEverywhere(em, delivery, admin, content);
      }),
    );
    return false;
  }
}

/**
 * SQL condition: the webhook, unless an admin has changed it since it was read. A round's results may be those of the
 * former address.
 */
function asSent({ project, id, updatedAt }: Webhook, lease: string): Fragment {
  return sql`project_id = ${project.id} and id = ${id} and lease = ${lease}
    and date_trunc('milliseconds', updated_at) = ${updatedAt}`;
}

/**
 * SQL condition: the delivery `d` to the webhook `t` is due, and no earlier one of its subject waits. While the receiver seems to
 * be down, every earlier one waits.
 */
function isReady(now: Date): Fragment {
  return sql`d.state = 'pending' and d.next_attempt_at <= ${now} and not exists (
    select 1 from webhook_deliveries b where b.project_id = d.project_id and b.webhook_id = d.webhook_id
      and b.order_key = d.order_key and b.state = 'pending' and b.queued_at < d.queued_at
      and (b.next_attempt_at > ${now} or t.failures >= ${failuresBeforePause}))`;
}
