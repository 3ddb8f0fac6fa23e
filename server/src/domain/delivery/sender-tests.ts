import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { type Problem, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import type { SmsGuard } from '../sms/sms-guard.ts';
import type { Channel, Delivery } from './delivery.ts';
import { failed, passed, type Stage } from './diagnosis.ts';
import type { Locale } from './locale.ts';
import { sampleOf, type TemplateName } from './samples.ts';
import { SendError, type Sender } from './sender.ts';
import { type MailLook, renderMail, renderSms } from './templates.ts';

export interface SenderTest {
  projectId: string;
  channel: Channel;
  to: string;
  /** Whether the address or number is the admin's own. */
  isOwn: boolean;
  template: TemplateName;
  locale: Locale;
  /** The application that the message names. */
  app: string;
}

/** Result of a test, by stage. */
export interface Diagnosis {
  channel: Channel;
  /** Null: no sender is configured. */
  sender: Sender<never>['kind'] | null;
  to: string;
  passed: boolean;
  stages: Stage[];
}

export interface SenderTestsDeps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  limits: Limits;
  smsGuard: Pick<SmsGuard, 'spend'>;
  delivery: Delivery;
  lookOf(projectId: string, locale: Locale): Promise<MailLook>;
}

/** Limits on tests, so that they cannot be used to send messages. */
const rules: LimitRule[] = [
  { name: 'sender-test-admin', max: 6, windowSeconds: 600 },
  { name: 'sender-test-project', max: 30, windowSeconds: 3600 },
];

/** Tests the mail server and the SMS gateway with a message to the given address. */
export class SenderTests {
  constructor(private readonly deps: SenderTestsDeps) {}

  /**
   * Sends one message now, without the queue, and returns the result of each stage. Refuses `too-many`, and
   * `phone-not-allowed`: a test by SMS counts as an SMS of the project.
   */
  async run(test: SenderTest, actor: Actor): Promise<Diagnosis> {
    const { audit, db, delivery, random } = this.deps;
    await this.spend(test, actor);
    const id = random.id();
    const { sender, stages } = await this.send(id, test);
    const fault = stages.find(({ state }) => state === 'failed');
    await db.transaction(async (em) => {
      await delivery.recordTest(em, id, test, fault ? `test: ${fault.name} failed` : null);
      audit.record(em, {
        type: 'sender.tested',
        actor,
        projectId: test.projectId,
        result: fault ? 'failure' : 'success',
        subject: { kind: 'sender', id: test.channel, name: test.channel === 'mail' ? 'mail server' : 'SMS gateway' },
        detail: { template: test.template, ...(fault && { failedStage: fault.name }) },
      });
    });
    return { channel: test.channel, sender, to: test.to, passed: !fault, stages };
  }

  /** Spends the limits; committed even if the test is refused. */
  private async spend({ channel, isOwn, projectId, to }: SenderTest, actor: Actor): Promise<void> {
    const { db, delivery, limits, smsGuard } = this.deps;
    const subjects = [`${actor.kind}:${actor.id ?? ''}`, projectId];
    const refused = await db.transaction(async (em): Promise<Problem | null> => {
      for (const [index, rule] of rules.entries()) {
        const { allowed, retryAfterSeconds } = await limits.spend(em, rule, subjects[index] as string);
        if (!allowed) return { code: 'too-many', retryAfterSeconds };
      }
      if (channel === 'mail' || !delivery.isAvailable('sms')) return null;
      const project = await em.findOneOrFail(Project, projectId);
      return smsGuard.spend(em, { project, number: to, proved: isOwn });
    });
    if (refused) refuse(refused);
  }

  private async send(id: string, test: SenderTest): Promise<{ sender: Diagnosis['sender']; stages: Stage[] }> {
    const { clock, delivery, lookOf } = this.deps;
    const content = sampleOf(test.template, test.app, clock.now());
    if (test.channel === 'mail') {
      const look = await lookOf(test.projectId, test.locale);
      const mail = { ...renderMail(content, test.locale, look), to: test.to, id, isUrgent: true };
      return diagnosed(delivery.senders.mail, mail);
    }
    return diagnosed(delivery.senders.sms, { to: test.to, text: renderSms(content, test.locale), id });
  }
}

async function diagnosed<M>(
  sender: Sender<M> | null,
  message: M,
): Promise<{ sender: Diagnosis['sender']; stages: Stage[] }> {
  if (!sender) return { sender: null, stages: [failed('settings', 0, 'not-set', null)] };
  if (sender.diagnose) return { sender: sender.kind, stages: await sender.diagnose(message) };
  try {
    await sender.send(message);
    const kept = sender.kind === 'mailbox' ? 'kept in the dev mailbox, not sent' : null;
    return { sender: sender.kind, stages: [passed('send', 0, kept)] };
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    return { sender: sender.kind, stages: [failed('send', 0, 'closed', error.message)] };
  }
}
