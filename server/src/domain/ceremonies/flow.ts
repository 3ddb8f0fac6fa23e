import type { SigninStep, StepUp } from '@latchkey/contracts';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { JWK } from 'jose';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Device } from '../devices/device.entity.ts';
import type { Devices } from '../devices/devices.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { type Problem, Refusal } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import type { Mfa } from '../mfa/mfa.ts';
import type { Guessing } from '../otp/guessing.ts';
import type { CountedCode, Otp } from '../otp/otp.ts';
import type { Sends } from '../otp/sends.ts';
import type { PhoneChanges } from '../phones/phone-changes.ts';
import type { TestMode } from '../projects/test-mode.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SmsGuard, SmsToSend } from '../sms/sms-guard.ts';
import type { Tokens } from '../tokens/tokens.ts';
import type { Users } from '../users/users.ts';
import type { SigninCaller, SigninCallers } from './callers.ts';
import type { Ceremony } from './ceremony.entity.ts';
import type { Counters } from './counters.ts';
import type { Evidence } from './evidence.ts';
import type { Recipients, SetupLinks } from './recipients.ts';
import type { Answers, CeremonyStep } from './steps.ts';

/** What the steps work with. */
export interface FlowDeps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  limits: Pick<Limits, 'spendInPassing' | 'spend'>;
  users: Users;
  devices: Devices;
  otp: Otp;
  smsGuard: SmsGuard;
  sends: Sends;
  guessing: Guessing;
  mfa: Mfa;
  phones: Pick<PhoneChanges, 'begin' | 'complete'>;
  delivery: Delivery;
  recipients: Recipients;
  sessions: Sessions;
  tokens: Tokens;
  setupLinks: SetupLinks;
  testMode: TestMode;
  callers: Pick<SigninCallers, 'current'>;
  issuer: string;
}

/** What a step is taken with. */
export interface StepInput {
  txn: string;
  /** As the person typed it. */
  userid: string;
  rememberDevice?: boolean | undefined;
  stepUp?: StepUp | undefined;
  otp?: string | undefined;
  mfaMethod?: 'email' | 'sms' | 'totp' | undefined;
  phoneNumber?: string | undefined;
  sessionId?: string | undefined;
  rememberMe?: boolean | undefined;
  /** The `Device-Proof` header, if there was one. */
  proof?: string | undefined;
  /** The request's body as it came. */
  body: Uint8Array;
}

/** One step under way: its transaction and its ceremony, locked. */
export interface Flow {
  em: EntityManager;
  deps: FlowDeps;
  caller: SigninCaller;
  ceremony: Ceremony;
  input: StepInput;
  /** The registered device whose key signed this step, trusted or not; never a revoked one. */
  device: Device | null;
  /** The key that a registration proof has shown. */
  publicJwk: JWK | null;
  /** The code whose try was counted before this step. */
  counted: CountedCode | null;
}

/** What a step may look at while it counts. */
export type Judged = Readonly<Pick<Flow, 'caller' | 'ceremony' | 'input' | 'device'>>;

/** An answer, with its changes: the evidence that this step verified, and what it wrote. */
export interface Accepted<S extends CeremonyStep> {
  answer: Answers[S];
  /** One piece at most: a step verifies one thing. */
  proved?: Evidence | undefined;
}

type Count = { rule: LimitRule; subject: string } | { sms: SmsToSend };

/** A refusal, with its counters. All else that the step wrote is undone. */
export interface RefusedStep {
  refused: Problem;
  /** Counted after everything else was undone: budgets of wrong codes, and an SMS that was refused. */
  counts?: readonly Count[];
  /** For the audit log. */
  event?: Pick<AuditEntry, 'type' | 'subject' | 'detail'>;
}

/** What a step decides: there is no third way. */
export type StepOutcome<S extends CeremonyStep> = Accepted<S> | RefusedStep;

/** How one step is taken. */
export interface StepRule<S extends CeremonyStep> {
  /**
   * Counts the try, before anything is decided: what it counts stays, whatever comes of the step. It can do nothing but
   * count. Refuses where a limit is reached.
   */
  count?(counters: Counters, flow: Judged): Promise<RefusedStep | { counted: CountedCode | null }>;
  /** Decides. What it writes is undone where it refuses. */
  take(flow: Flow): Promise<StepOutcome<S>>;
}

/** A refused step of a transaction that goes on: the next proof carries `nonce`. */
export class StepRefusal extends Refusal {
  constructor(
    problem: Problem,
    readonly step: SigninStep,
    readonly nonce?: string,
  ) {
    super(problem);
    this.name = 'StepRefusal';
  }
}
