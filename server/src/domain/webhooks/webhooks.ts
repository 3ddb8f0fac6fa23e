import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { AuditEvent } from '../audit/audit-event.entity.ts';
import type { EventType } from '../audit/event-types.ts';
import type { Actor } from '../kernel/actor.ts';
import { change } from '../kernel/change.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { checkedBy, type StoredOf, withDefaultsOf } from '../kernel/resource.ts';
import { digest } from '../kernel/secret.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, locked, type TenantKey } from '../projects/tenant.ts';
import { checkedTypes } from './received-types.ts';
import { newSigningSecret } from './signature.ts';
import { Webhook } from './webhook.entity.ts';
import { type WebhookSettings, webhookFields } from './webhook.resource.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';
import { checkedSecret } from './webhook-settings.ts';

const maxWebhooks = 20;
/** Time for which the previous secret also signs. */
const overlapSeconds = 24 * 3600;
/** Test events and replays that admins of a project may start. */
const sends: LimitRule = { name: 'webhook-sends', max: 60, windowSeconds: 600 };

export const secretPurpose = 'webhook-secret';
export const previousSecretPurpose = 'webhook-previous-secret';

interface Deps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  vault: Vault;
  limits: Pick<Limits, 'spend'>;
  allowPrivateTargets: boolean;
}

type NewWebhook = Partial<WebhookSettings> & Pick<WebhookSettings, 'url'>;

/** A webhook and its new secret, whose text is available only here. */
export interface IssuedWebhook {
  webhook: Webhook;
  secret: string;
}

/** Webhooks of projects, as admins set them. {@link WebhookChannel} delivers. */
export class Webhooks {
  constructor(private readonly deps: Deps) {}

  /** The webhooks of a project, oldest first: at most 20. */
  list(em: EntityManager, projectId: string): Promise<Webhook[]> {
    return em.find(Webhook, { project: projectId }, { orderBy: { id: 'asc' } });
  }

  /** Refuses `not-found`. */
  async get(em: EntityManager, key: TenantKey): Promise<Webhook> {
    return existing(em, Webhook, key, 'webhook');
  }

  /** The given settings in their stored form. Refuses `invalid`. */
  check(settings: Partial<WebhookSettings>): Partial<StoredOf<typeof webhookFields>> {
    const { allowPrivateTargets, clock } = this.deps;
    const values = checkedBy(webhookFields, settings, { now: clock.now(), allowPrivateTargets });
    return values.types === undefined ? values : { ...values, types: checkedTypes(values.types) };
  }

  /** A digest by which the signing secret can be compared with another. */
  secretDigest({ id, sealedSecret }: Webhook): string {
    return digest(this.deps.vault.open(secretPurpose, id, sealedSecret));
  }

  /**
   * Creates a webhook, which receives events from now on. Refuses `not-found`, `invalid`.
   *
   * @param given the signing secret; default: a new one
   */
  create(projectId: string, settings: NewWebhook, actor: Actor, given?: string): Promise<IssuedWebhook> {
    const { audit, clock, db, random, vault } = this.deps;
    const values = withDefaultsOf(webhookFields, this.check(settings));
    const known = given === undefined ? undefined : checkedSecret(given);
    return db.transaction(async (em) => {
      const project = await existing(em, Project, projectId, 'project', locked);
      if ((await em.count(Webhook, { project })) >= maxWebhooks) {
        refuse({ code: 'invalid', field: 'projectId', reason: `already has ${maxWebhooks} webhooks` });
      }
      const id = random.id();
      const secret = known ?? newSigningSecret(random);
      const now = clock.now();
      const webhook = em.create(Webhook, {
        project: project.id,
        id,
        ...values,
        sealedSecret: vault.seal(secretPurpose, id, secret),
        secretCreatedAt: now,
        createdAt: now,
        updatedAt: now,
      });
      em.persist(webhook);
      audit.record(em, entry('webhook.created', webhook, actor, { types: values.types }));
      return { webhook, secret };
    });
  }

  /**
   * Changes settings; `enabled: true` also ends a pause after failures. Deliveries that wait go to the new address.
   * Refuses `not-found`, `invalid`.
   */
  update(key: TenantKey, settings: Partial<WebhookSettings>, actor: Actor): Promise<Webhook> {
    const { audit, clock, db } = this.deps;
    const { enabled } = settings;
    const values = this.check(settings);
    return db.transaction(async (em) => {
      const webhook = await this.locked(em, key);
      const wasEnabled = webhook.disabledReason == null;
      const changed = change(webhook, values);
      if (enabled !== undefined && enabled !== wasEnabled) webhook.disabledReason = enabled ? null : 'admin';
      const isEnabled = webhook.disabledReason == null;
      if (!changed && isEnabled === wasEnabled) return webhook;
      Object.assign(webhook, { updatedAt: clock.now(), failures: 0, failingSince: null, nextAttemptAt: null });
      const shown = (of: Record<string, unknown> = {}, on: boolean) => ({
        ...of,
        ...('url' in of ? { url: `${new URL(String(of['url'])).origin}/…` } : {}),
        ...(isEnabled === wasEnabled ? {} : { enabled: on }),
      });
      const detail = { before: shown(changed?.before, wasEnabled), after: shown(changed?.after, isEnabled) };
      audit.record(em, entry('webhook.updated', webhook, actor, detail));
      return webhook;
    });
  }

  /** Deletes the webhook with its deliveries. Refuses `not-found`. */
  remove(key: TenantKey, actor: Actor): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const webhook = await this.locked(em, key);
      this.deps.audit.record(em, entry('webhook.deleted', webhook, actor));
      em.remove(webhook);
      await em.flush();
      await execute(em, sql`delete from webhook_deliveries where ${ofWebhook(key)}`);
    });
  }

  /**
   * Replaces the secret; the previous one also signs for 24 hours. Refuses `not-found`, `invalid`.
   *
   * @param given the secret; default: a new one
   */
  rotateSecret(key: TenantKey, actor: Actor, given?: string): Promise<IssuedWebhook> {
    const { audit, clock, db, random, vault } = this.deps;
    const known = given === undefined ? undefined : checkedSecret(given);
    return db.transaction(async (em) => {
      const webhook = await this.locked(em, key);
      const previous = vault.open(secretPurpose, webhook.id, webhook.sealedSecret);
      const secret = known ?? newSigningSecret(random);
      const now = clock.now();
      Object.assign(webhook, {
        sealedSecret: vault.seal(secretPurpose, webhook.id, secret),
        secretCreatedAt: now,
        sealedPreviousSecret: vault.seal(previousSecretPurpose, webhook.id, previous),
        previousSecretUntil: secondsLater(now, overlapSeconds),
        updatedAt: now,
      });
      audit.record(em, entry('webhook.secret-rotated', webhook, actor));
      return { webhook, secret };
    });
  }

  /**
   * Sends the event `webhook.tested`, regardless of the types that the webhook receives. Refuses `not-found`,
   * `invalid`, `too-many`.
   */
  async test(key: TenantKey, actor: Actor): Promise<WebhookDelivery> {
    await this.spend(key.project.id);
    return this.deps.db.transaction(async (em) => {
      const webhook = await this.locked(em, key);
      mustBeEnabled(webhook);
      const event = this.deps.audit.record(em, entry('webhook.tested', webhook, actor));
      await em.flush();
      const id = deliveryId(event, webhook);
      await execute(
        em,
        sql`insert into webhook_deliveries (project_id, id, webhook_id, event_id, type, order_key, next_attempt_at, created_at)
          values (${key.project.id}, ${id}, ${webhook.id}, ${event.id}, ${event.type}, ${webhook.id}, ${event.at}, ${event.at})
          on conflict do nothing`,
      );
      webhook.nextAttemptAt = null;
      return em.findOneOrFail(WebhookDelivery, { project: key.project.id, id });
    });
  }

  /** Sends a delivery again now, with the same id. Refuses `not-found`, `invalid`, `too-many`. */
  async replay(key: TenantKey, actor: Actor): Promise<WebhookDelivery> {
    await this.spend(key.project.id);
    const { audit, clock, db } = this.deps;
    return db.transaction(async (em) => {
      const delivery = await existing(em, WebhookDelivery, key, 'webhook-delivery');
      const webhook = await this.locked(em, { project: key.project, id: delivery.webhookId });
      mustBeEnabled(webhook);
      await em.refresh(delivery);
      Object.assign(delivery, { state: 'pending', tries: 0, nextAttemptAt: clock.now(), settledAt: null });
      webhook.nextAttemptAt = null;
      const detail = { eventId: delivery.eventId, type: delivery.type };
      audit.record(em, entry('webhook.replayed', webhook, actor, detail));
      return delivery;
    });
  }

  /** Sends all failed deliveries again, oldest first. Refuses `not-found`, `invalid`, `too-many`. @returns their number */
  async replayFailed(key: TenantKey, actor: Actor): Promise<number> {
    await this.spend(key.project.id);
    const { audit, clock, db } = this.deps;
    return db.transaction(async (em) => {
      const webhook = await this.locked(em, key);
      mustBeEnabled(webhook);
      const count = await execute(
        em,
        sql`update webhook_deliveries set state = 'pending', tries = 0, next_attempt_at = ${clock.now()}, settled_at = null
          where ${ofWebhook(key)} and state = 'failed'`,
      );
      if (count === 0) return 0;
      webhook.nextAttemptAt = null;
      audit.record(em, entry('webhook.replayed', webhook, actor, { count }));
      return count;
    });
  }

  private async locked(em: EntityManager, key: TenantKey): Promise<Webhook> {
    return existing(em, Webhook, key, 'webhook', locked);
  }

  /** Committed even if the request is refused. */
  private async spend(projectId: string): Promise<void> {
    const { db, limits } = this.deps;
    const spent = await db.transaction((em) => limits.spend(em, sends, projectId));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
  }
}

/** The address without path and query, which may contain a token of the receiver. */
export function hostOf(url: string): string {
  return new URL(url).host;
}

/** SQL condition: the deliveries of a webhook. */
export const ofWebhook = ({ project, id }: TenantKey) => sql`project_id = ${project.id} and webhook_id = ${id}`;

/** An event about a webhook. Its address appears without path and query. */
export function entry(type: EventType, webhook: Webhook, actor: Actor, detail?: Record<string, unknown>) {
  const subject = { kind: 'webhook', id: webhook.id, name: hostOf(webhook.url) };
  return { type, actor, projectId: webhook.project.id, subject, ...(detail && { detail }) };
}

/** The id that the trigger `queue_webhook_deliveries` generates. */
function deliveryId(event: AuditEvent, webhook: Webhook): string {
  return event.id.slice(0, 24) + webhook.id.slice(-12);
}

function mustBeEnabled({ disabledReason }: Webhook): void {
  if (disabledReason != null) refuse({ code: 'invalid', field: 'id', reason: 'is disabled' });
}
