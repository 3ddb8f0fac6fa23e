import { describe, expect, it } from 'vitest';
import {
  clock,
  deliver,
  deliveries,
  idsSent,
  lab,
  lease,
  openLab,
  record,
  row,
  subjectsSent,
  webhook,
} from '../../../test/webhook-lab.ts';
import { everything } from '../admins/permission.ts';
import { system } from '../kernel/actor.ts';
import { query, sql } from '../kernel/sql.ts';
import { keyIn } from '../projects/tenant.ts';
import type { WebhookOutcome } from './attempts.ts';
import { signedHeaders } from './signature.ts';

openLab();

describe('an event', () => {
  it('is sent once, with its id, signed', async () => {
    const { secret, webhook: made } = await webhook(['user.updated']);
    const id = await record('ada');
    await deliver();
    await deliver();
    expect(idsSent()).toEqual([id]);
    const [{ url, body, headers } = expect.fail()] = lab.sent;
    expect(url).toBe('https://hooks.example.com/in?token=abc');
    expect(JSON.parse(body)).toMatchObject({ type: 'user.updated', data: { id, subject: { id: 'ada' } } });
    const timestampSeconds = clock.now().getTime() / 1000;
    expect(headers).toEqual(signedHeaders({ id, timestampSeconds, body }, [secret]));
    expect(await deliveries(made)).toMatchObject([{ state: 'delivered', attempts: [{ status: 204 }] }]);
  });

  it('goes to the webhooks of its project that receive its type', async () => {
    const foreign = await lab.services.projects.create({ name: 'Other' }, system);
    await webhook(['user.*', 'client.created'], 'https://chosen.example.com/');
    await webhook([], 'https://all.example.com/');
    await webhook(['group.*'], 'https://groups.example.com/');
    await webhook([], 'https://foreign.example.com/', foreign);
    const disabled = await webhook([], 'https://disabled.example.com/');
    await lab.services.webhooks.update(disabled.webhook, { enabled: false }, system);
    await deliver();
    lab.sent = [];
    await record('ada');
    await deliver();
    expect(lab.sent.map(({ url }) => url).sort()).toEqual(['https://all.example.com/', 'https://chosen.example.com/']);
  });

  it('is not queued if its project has no webhook', async () => {
    await record('ada');
    const rows = await query(
      lab.services.db.alone,
      sql`select from webhook_deliveries where project_id = ${lab.project.id}`,
    );
    expect(rows).toEqual([]);
  });

  it('is sent when its transaction commits, even after a newer event, and never if it is rolled back', async () => {
    await webhook(['user.updated']);
    let commit: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (commit = resolve));
    const entry = { type: 'user.updated', actor: system, projectId: lab.project.id } as const;
    const slow = lab.services.db.transaction(async (em) => {
      const event = lab.services.audit.record(em, { ...entry, subject: { kind: 'user', id: 'slow' } });
      await em.flush();
      await held;
      return event.id;
    });
    const rolledBack = lab.services.db.transaction(async (em) => {
      lab.services.audit.record(em, { ...entry, subject: { kind: 'user', id: 'undone' } });
      await em.flush();
      throw new Error('undone');
    });
    await expect(rolledBack).rejects.toThrow('undone');
    clock.turn(1);
    await record('fast');
    await deliver();
    expect(subjectsSent()).toEqual(['fast']);
    commit();
    const id = await slow;
    await deliver();
    expect(subjectsSent()).toEqual(['fast', 'slow']);
    expect(idsSent()[1]).toBe(id);
  });

  it('loses the values that an erasure removes, even if it is pending or replayed', async () => {
    const { webhook: made } = await webhook(['user.*']);
    lab.answer = () => ({ status: 500 });
    const userId = await lab.services.newUsers.add(
      lab.project.id,
      { email: 'ada@example.com' },
      { invite: false },
      system,
    );
    await deliver();
    expect(lab.sent[0]?.body).toContain('ada@example.com');
    await lab.services.accounts.remove(lab.project.id, userId, system);
    lab.answer = () => ({ status: 200 });
    lab.sent = [];
    clock.turn(60);
    await deliver();
    expect(lab.sent.map(({ body }) => JSON.parse(body).type)).toEqual(['user.created', 'user.erased']);
    const stored = await query(
      lab.services.db.alone,
      sql`select to_jsonb(d) from webhook_deliveries d where webhook_id = ${made.id}`,
    );
    for (const text of [...lab.sent.map(({ body }) => body), JSON.stringify(stored)]) expect(text).not.toMatch(/ada/i);
  });
});

describe('a failed delivery', () => {
  it('is repeated with the same id, and holds back only later events of its subject', async () => {
    await webhook(['user.updated']);
    lab.answer = ({ body }) => ({ status: body.includes('"ada"') ? 500 : 200 });
    const first = await record('ada');
    const second = await record('ada');
    await record('grace');
    await deliver();
    expect(subjectsSent().sort()).toEqual(['ada', 'grace']);
    await record('grace');
    await deliver();
    expect(subjectsSent().sort()).toEqual(['ada', 'grace', 'grace']);
    lab.answer = () => ({ status: 200 });
    lab.sent = [];
    await deliver();
    expect(lab.sent).toEqual([]);
    clock.turn(13);
    await deliver();
    expect(idsSent()).toEqual([first, second]);
  });

  it.each<[string, WebhookOutcome]>([
    ['an error', { status: 500 }],
    ['a redirect', { status: 302 }],
    ['a refusal', { status: 401 }],
    ['no response', { error: 'no answer in time' }],
    ['a private address', { error: 'the address is not public' }],
  ])('is one with %s', async (_what, outcome) => {
    const { webhook: made } = await webhook(['user.updated']);
    lab.answer = () => outcome;
    await record('ada');
    await deliver();
    expect(await deliveries(made)).toMatchObject([{ state: 'pending', attempts: [outcome] }]);
  });

  it('fails after 12 attempts over a day, lets its successor pass, and can be replayed', async () => {
    const { webhook: made } = await webhook(['user.updated']);
    const first = await record('ada');
    const second = await record('ada');
    lab.answer = ({ headers }) => ({ status: headers['webhook-id'] === first ? 500 : 200 });
    for (let hour = 0; hour < 48; hour += 1) {
      await deliver();
      clock.turn(3600);
    }
    expect(await deliveries(made)).toMatchObject([
      { state: 'failed', tries: 12 },
      { state: 'delivered', tries: 1 },
    ]);
    expect(idsSent()).toEqual([...Array.from({ length: 12 }, () => first), second]);
    lab.answer = () => ({ status: 200 });
    expect(await lab.services.webhooks.replayFailed(made, system)).toBe(1);
    await deliver();
    expect(idsSent().at(-1)).toBe(first);
    expect((await deliveries(made)).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });

  it('loses the values that an erasure removes from the events of a device, when it is replayed', async () => {
    const { webhook: made } = await webhook();
    lab.answer = () => ({ status: 500 });
    const userId = await lab.services.newUsers.add(
      lab.project.id,
      { email: 'ada@example.com' },
      { invite: false },
      system,
    );
    const { client } = await lab.services.clients.create({ projectId: lab.project.id, name: 'Shop' }, system);
    const userAgent = 'Marked/1.0 (Windows) Firefox/140';
    const owner = { projectId: lab.project.id, userId };
    const marks = /203\.0\.113\.77|Marked|Firefox|Kitchen/;
    await lab.services.db.transaction(async (em) => {
      const { device } = await lab.services.devices.register(em, {
        ...{
          project: lab.project,
          clientId: client.id,
          userId,
          jkt: 'jkt',
          publicJwk: { kty: 'EC' },
          hosted: false,
          remembered: true,
        },
        actor: { kind: 'anonymous', ip: '203.0.113.77', userAgent },
      });
      await lab.services.devices.rename(em, owner, device.id, 'Kitchen', { kind: 'user', id: userId, userAgent });
    });
    for (let hour = 0; hour < 72; hour += 1) {
      await deliver();
      clock.turn(3600);
    }
    expect(lab.sent.map(({ body }) => body).join()).toMatch(marks);
    await lab.services.accounts.remove(lab.project.id, userId, system);
    lab.answer = () => ({ status: 200 });
    lab.sent = [];
    expect(await lab.services.webhooks.replayFailed(made, system)).toBeGreaterThan(3);
    await deliver();
    const types = lab.sent.map(({ body }) => JSON.parse(body).type);
    expect(types).toEqual(expect.arrayContaining(['device.registered', 'device.renamed', 'user.erased']));
    const stored = await query(
      lab.services.db.alone,
      sql`select to_jsonb(d) from webhook_deliveries d where webhook_id = ${made.id}`,
    );
    for (const text of [...lab.sent.map(({ body }) => body), JSON.stringify(stored)]) expect(text).not.toMatch(marks);
  });
});

describe('a receiver that is down', () => {
  it('gets one request at a time, then all that waited, in order', async () => {
    const { webhook: made } = await webhook(['user.updated']);
    lab.answer = () => ({ error: 'ECONNREFUSED' });
    const ids: string[] = [];
    for (let n = 0; n < 30; n += 1) ids.push(await record(`user ${n % 3}`));
    await deliver();
    const atOnce = lab.sent.length;
    expect(atOnce).toBeLessThanOrEqual(5);
    await deliver();
    expect(lab.sent).toHaveLength(atOnce);
    for (let n = 1; n <= 5; n += 1) {
      clock.turn(61);
      await deliver();
      expect(lab.sent).toHaveLength(atOnce + n);
    }
    lab.answer = () => ({ status: 200 });
    lab.sent = [];
    clock.turn(61);
    await deliver();
    expect(new Set(idsSent())).toEqual(new Set(ids));
    for (const n of [0, 1, 2]) {
      const own = lab.sent.filter(({ body }) => JSON.parse(body).data.subject.id === `user ${n}`);
      expect(own.map(({ headers }) => headers['webhook-id'])).toEqual(ids.filter((_, index) => index % 3 === n));
    }
    expect(await row(made)).toMatchObject({ failures: 0, next_attempt_at: null });
  });

  it('delays no other', async () => {
    await webhook(['user.updated'], 'https://hangs.example.com/');
    const { webhook: well } = await webhook(['user.updated'], 'https://well.example.com/');
    let release: (outcome: WebhookOutcome) => void = () => undefined;
    const hangs = new Promise<WebhookOutcome>((resolve) => (release = resolve));
    lab.answer = ({ url }) => (url.includes('hangs') ? hangs : { status: 200 });
    const delivered = async () => (await deliveries(well)).filter(({ state }) => state === 'delivered').length;
    for (let n = 1; n <= 3; n += 1) {
      await record('ada');
      await lab.services.webhookRelay.start((error) => expect.fail(String(error)));
      await expect.poll(delivered).toBe(n);
      // The run has ended when its claim is released.
      await expect.poll(async () => (await lease(well)) === null).toBe(true);
    }
    expect(lab.sent.filter(({ url }) => url.includes('hangs'))).toHaveLength(1);
    release({ error: 'no answer in time' });
    await lab.services.webhookRelay.settled();
  });

  it('is disabled after five days, with an event and mails to the admins; its waiting events can be replayed', async () => {
    const grants = { grants: everything, actor: system };
    await lab.services.admins.grantRole(
      { email: 'admin@example.com', role: 'project_admin', projectId: lab.project.id },
      grants,
    );
    const { webhook: made } = await webhook(['user.updated']);
    lab.answer = () => ({ status: 503 });
    for (let n = 0; n < 30; n += 1) await record(`user ${n}`);
    for (let hour = 0; hour < 119; hour += 7) {
      await deliver();
      clock.turn(7 * 3600);
    }
    expect((await row(made))?.disabled_reason).toBeNull();
    for (let n = 0; n < 30; n += 1) await record(`user ${n}`);
    clock.turn(7 * 3600);
    await deliver();
    expect((await row(made))?.disabled_reason).toBe('failures');
    const events = await query(
      lab.services.db.alone,
      sql`select result, detail->>'reason' as reason, subject_name as name from audit_log
        where project_id = ${lab.project.id} and type = 'webhook.disabled'`,
    );
    expect(events).toEqual([{ result: 'failure', reason: 'failures', name: 'hooks.example.com' }]);
    const mails = await query(
      lab.services.db.alone,
      sql`select recipient from messages where template = 'webhook-disabled'`,
    );
    expect(mails).toEqual([{ recipient: 'admin@example.com' }]);
    const waiting = (await deliveries(made)).filter(({ state }) => state === 'pending');
    expect(waiting).toEqual([]);
    const later = await record('later');
    await deliver();
    expect(await deliveries(made)).toHaveLength(61);
    await lab.services.webhooks.update(made, { enabled: true }, system);
    lab.answer = () => ({ status: 200 });
    expect(await lab.services.webhooks.replayFailed(made, system)).toBeGreaterThanOrEqual(30);
    await deliver();
    expect((await deliveries(made)).filter(({ state }) => state !== 'delivered')).toEqual([]);
    expect(idsSent()).toContain(later);
  });

  it('is disabled immediately if it returns 410, which ends only its own pending events', async () => {
    const { webhook: made } = await webhook(['user.updated']);
    const { webhook: well } = await webhook(['user.updated'], 'https://well.example.com/');
    lab.answer = ({ url, body }) => ({ status: url.includes('well') ? 500 : body.includes('"ada"') ? 410 : 200 });
    await record('grace');
    await deliver();
    await record('ada');
    await deliver();
    expect([(await row(made))?.disabled_reason, (await row(well))?.disabled_reason]).toEqual(['gone', null]);
    expect(await deliveries(made)).toMatchObject([{ state: 'delivered' }, { state: 'failed' }]);
    expect(await deliveries(well)).toMatchObject([{ state: 'pending' }, { state: 'pending' }]);
  });

  it('gets no more events once an admin has disabled it', async () => {
    const { webhook: made } = await webhook(['user.updated']);
    lab.answer = async () => {
      clock.turn(1);
      await record('grace');
      await lab.services.webhooks.update(made, { enabled: false }, system);
      return { status: 204 };
    };
    await record('ada');
    await deliver();
    expect(subjectsSent()).toEqual(['ada']);
  });

  it('continues at its new address if the old one returns 410 while an admin moves it', async () => {
    const { webhook: made } = await webhook(['user.updated'], 'https://old.example.com/');
    lab.answer = async ({ url }) => {
      if (url !== 'https://old.example.com/') return { status: 204 };
      clock.turn(1);
      await lab.services.webhooks.update(made, { url: 'https://new.example.com/' }, system);
      return { status: 410 };
    };
    await record('ada');
    await deliver();
    expect((await row(made))?.disabled_reason).toBeNull();
    clock.turn(60);
    await deliver();
    expect(lab.sent.map(({ url }) => url)).toEqual(['https://old.example.com/', 'https://new.example.com/']);
    expect(await deliveries(made)).toMatchObject([{ state: 'delivered' }]);
  });

  it('gets events at its new address immediately, despite failures of the old one', async () => {
    const { webhook: made } = await webhook(['user.updated'], 'https://old.example.com/');
    lab.answer = async ({ url }) => {
      if (lab.sent.length === 3) {
        clock.turn(1);
        await lab.services.webhooks.update(made, { url: 'https://new.example.com/' }, system);
      }
      return url === 'https://old.example.com/' ? { status: 500 } : { status: 204 };
    };
    for (const subject of ['ada', 'grace', 'joan']) await record(subject);
    await deliver();
    expect(await row(made)).toMatchObject({ failures: 0, next_attempt_at: null });
  });

  it('causes at most twenty mails to an admin in a day, even if it is enabled and disabled more often', async () => {
    const wanted = { email: 'flooded@example.com', role: 'project_admin', projectId: lab.project.id } as const;
    await lab.services.admins.grantRole(wanted, { grants: everything, actor: system });
    const { webhook: made } = await webhook(['user.updated']);
    lab.answer = () => ({ status: 410 });
    const disable = async (times: number) => {
      for (let at = 0; at < times; at += 1) {
        await lab.services.webhooks.update(made, { enabled: true }, system);
        await record(`ada ${at}`);
        await deliver();
        expect((await row(made))?.disabled_reason).toBe('gone');
      }
      const mails = sql`select from messages where recipient = 'flooded@example.com' and template = 'webhook-disabled'`;
      return (await query(lab.services.db.alone, mails)).length;
    };
    expect(await disable(22)).toBe(20);
    clock.turn(24 * 3600 + 1);
    expect(await disable(1)).toBe(21);
  });
});

describe('a new secret', () => {
  it('signs together with the previous one for 24 hours, then alone', async () => {
    const { secret: old, webhook: made } = await webhook(['user.updated']);
    const { secret } = await lab.services.webhooks.rotateSecret(keyIn(lab.project.id, made.id), system);
    const signature = async () => {
      lab.sent = [];
      const id = await record('ada');
      await deliver();
      const [{ body, headers } = expect.fail()] = lab.sent;
      const message = { id, timestampSeconds: Number(headers['webhook-timestamp']), body };
      return {
        made: headers['webhook-signature'],
        of: (...by: string[]) => signedHeaders(message, by)['webhook-signature'],
      };
    };
    const both = await signature();
    expect(both.made).toBe(both.of(secret, old));
    clock.turn(24 * 3600 + 1);
    const alone = await signature();
    expect(alone.made).toBe(alone.of(secret));
  });
});
