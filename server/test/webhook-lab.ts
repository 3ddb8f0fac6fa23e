import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { openDatabase } from '../src/adapters/postgres/database.ts';
import { randomOn } from '../src/adapters/system/random.ts';
import type { EventType } from '../src/domain/audit/event-types.ts';
import { system } from '../src/domain/kernel/actor.ts';
import { noQueue } from '../src/domain/kernel/queue.ts';
import { query, sql } from '../src/domain/kernel/sql.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import type { WebhookOutcome } from '../src/domain/webhooks/attempts.ts';
import type { Webhook } from '../src/domain/webhooks/webhook.entity.ts';
import { buildServices, type Services } from '../src/services.ts';
import { adjustableClock } from './clock.ts';
import { freshDatabase } from './database.ts';
import { deliverDue } from './relayed.ts';

interface Sent {
  url: string;
  body: string;
  headers: Record<string, string>;
}

interface Lab {
  orm: MikroORM;
  /** Two processes on one database. */
  services: Services;
  other: Services;
  sent: Sent[];
  answer(message: Sent): WebhookOutcome | Promise<WebhookOutcome>;
  /** Created before each test. */
  project: Project;
}

export const clock = adjustableClock();
const random = randomOn(clock);
/** Two processes that deliver to webhooks, and the requests that they sent. */
export const lab = {} as Lab;

/** Opens the lab for the tests of a file. */
export function openLab(): void {
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const fresh = await freshDatabase();
    drop = fresh.drop;
    lab.orm = await openDatabase({ url: fresh.url, rowSecurity: true });
    [lab.services, lab.other] = [process(), process()];
    await lab.services.keys.maintain();
    await lab.services.seed.create({ demo: false });
  });
  afterAll(async () => {
    await lab.orm.close(true);
    await drop();
  });
  beforeEach(async () => {
    await query(lab.services.db.alone, sql`delete from webhooks`);
    lab.sent = [];
    lab.answer = () => ({ status: 204 });
    lab.project = await lab.services.projects.create({ name: 'Acme' }, system);
  });
}

/** Another process on the database. */
export function process(): Services {
  return buildServices(
    {
      ...{ orm: lab.orm, clock, random, queue: noQueue, senders: { mail: null, sms: null } },
      postLogoutToken: async () => ({ status: 200 }),
      postWebhook: async (url, body, headers) => {
        lab.sent.push({ url, body, headers });
        return lab.answer({ url, body, headers });
      },
    },
    { issuer: 'https://id.example.com', masterKey: new Uint8Array(32), allowPrivateTargets: false },
  );
}

export async function webhook(
  types: string[] = [],
  url = 'https://hooks.example.com/in?token=abc',
  of: Project = lab.project,
): Promise<{ webhook: Webhook; secret: string }> {
  return lab.services.webhooks.create(of.id, { url, types, description: '' }, system);
}

/** Records an event about `subject`. */
export function record(subject: string, type: EventType = 'user.updated', of: Project = lab.project): Promise<string> {
  return lab.services.db.transaction(async (em) => {
    const { id } = lab.services.audit.record(em, {
      type,
      actor: system,
      projectId: of.id,
      subject: { kind: 'user', id: subject, name: `name of ${subject}` },
    });
    return id;
  });
}

export async function deliver(by: Services = lab.services): Promise<void> {
  await deliverDue(by.webhookRelay);
}

export const idsSent = (): (string | undefined)[] => lab.sent.map(({ headers }) => headers['webhook-id']);

export const subjectsSent = (): string[] => lab.sent.map(({ body }) => JSON.parse(body).data.subject.id);

interface DeliveryRow {
  state: string;
  tries: number;
  attempts: { status?: number; error?: string }[];
  event_id: string;
}

export async function deliveries(of: Webhook): Promise<DeliveryRow[]> {
  return query(
    lab.services.db.alone,
    sql<DeliveryRow>`
      select state, tries, attempts, event_id from webhook_deliveries where webhook_id = ${of.id} order by queued_at`,
  );
}

interface WebhookRow {
  disabled_reason: string | null;
  failures: number;
  next_attempt_at: string | null;
}

export async function row(of: Webhook): Promise<WebhookRow | undefined> {
  const [found] = await query(
    lab.services.db.alone,
    sql<WebhookRow>`select disabled_reason, failures, next_attempt_at from webhooks where id = ${of.id}`,
  );
  return found;
}

/** The claim of a process on the deliveries of a webhook. */
export async function lease(of: Webhook): Promise<string | null> {
  const [found] = await query(
    lab.services.db.alone,
    sql<{ lease: string | null }>`select lease from webhooks where id = ${of.id}`,
  );
  return found?.lease ?? null;
}
