import type { SigninStep, StepUp } from '@latchkey/contracts';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { JWK } from 'jose';
import type { Audit } from '../audit/audit.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Device } from '../devices/device.entity.ts';
import type { Devices } from '../devices/devices.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { type Problem, Refusal } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import type { Limits } from '../limits/limits.ts';
import type { Mfa } from '../mfa/mfa.ts';
import type { Otp } from '../otp/otp.ts';
import type { PhoneChanges } from '../phones/phone-changes.ts';
import type { TestMode } from '../projects/test-mode.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SmsGuard } from '../sms/sms-guard.ts';
import type { Tokens } from '../tokens/tokens.ts';
import type { Users } from '../users/users.ts';
import type { Caller } from './callers.ts';
import type { Ceremony } from './ceremony.entity.ts';
import type { Recipients, SetupLinks } from './recipients.ts';
import type { Answers, Step } from './steps.ts';

/** What the steps work with. */
export interface FlowDeps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  limits: Pick<Limits, 'spendInPassing'>;
  users: Users;
  devices: Devices;
  otp: Otp;
  smsGuard: SmsGuard;
  mfa: Mfa;
  phones: Pick<PhoneChanges, 'begin' | 'complete'>;
  delivery: Delivery;
  recipients: Recipients;
  sessions: Sessions;
  tokens: Tokens;
  setupLinks: SetupLinks;
  testMode: TestMode;
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

/** One step under way: its transaction, its ceremony under a lock, and what has been proved already. */
export interface Flow {
  em: EntityManager;
  deps: FlowDeps;
  caller: Caller;
  ceremony: Ceremony;
  input: StepInput;
  /** The registered device whose key has signed this step. */
  device: Device | null;
  /** The key that a registration proof has shown. */
  publicJwk: JWK | null;
}

/** A step's answer, or why it is refused: both are committed, and only then told. */
export type Outcome<S extends Step> = Answers[S] | { refused: Problem };

/** A refused step of a transaction that goes on: the next proof carries `nonce`. */
export class StepRefusal extends Refusal {
  readonly nonce: string | undefined;
  readonly step: SigninStep;

  constructor(problem: Problem, step: SigninStep, nonce?: string) {
    super(problem);
    this.name = 'StepRefusal';
    this.nonce = nonce;
    this.step = step;
  }
}
