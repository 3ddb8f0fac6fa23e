import type { SigninStep, StepUp } from '@latchkey/contracts';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { JWK } from 'jose';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import type { Identities } from '../connections/identities.ts';
import type { PhoneChanges } from '../contacts/phone-changes.ts';
import type { Device } from '../credentials/device.entity.ts';
import type { Devices } from '../credentials/devices.ts';
import type { Passkeys } from '../credentials/passkeys.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { type Problem, Refusal } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import type { Mfa } from '../mfa/mfa.ts';
import type { DirectoryGuests } from '../organizations/domains/directory-guests.ts';
import type { DomainJoins } from '../organizations/domains/domain-joins.ts';
import type { Guessing } from '../otp/guessing.ts';
import type { CountedCode, Otp } from '../otp/otp.ts';
import type { Sends } from '../otp/sends.ts';
import type { Evidence } from '../policy/evidence.ts';
import type { TestMode } from '../projects/test-mode.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SignUpRequests } from '../signups/sign-up-requests.ts';
import type { SmsGuard, SmsToSend } from '../sms/sms-guard.ts';
import type { Tokens } from '../tokens/tokens.ts';
import type { Users } from '../users/users.ts';
import type { SigninCaller, SigninCallers } from './callers.ts';
import type { Ceremony } from './ceremony.entity.ts';
import type { Counters } from './counters.ts';
import type { Recipients, SetupLinks } from './recipients.ts';
import type { BegunDevices } from './steps/begun-devices.ts';
import type { Answers, CeremonyStep } from './steps/steps.ts';

/** Dependencies of the steps. */
export interface FlowDeps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  limits: Pick<Limits, 'spendPrepaid' | 'spend'>;
  users: Users;
  devices: Devices;
  passkeys: Passkeys;
  otp: Otp;
  smsGuard: SmsGuard;
  sends: Sends;
  guessing: Guessing;
  mfa: Mfa;
  phones: Pick<PhoneChanges, 'begin' | 'complete'>;
  delivery: Delivery;
  recipients: Recipients;
  identities: Pick<Identities, 'isUsable' | 'linkProved'>;
  directoryGuests: Pick<DirectoryGuests, 'admit'>;
  domainJoins: Pick<DomainJoins, 'join'>;
  sessions: Sessions;
  tokens: Tokens;
  setupLinks: SetupLinks;
  testMode: TestMode;
  signUpRequests: SignUpRequests;
  callers: Pick<SigninCallers, 'current'>;
  begunDevices: BegunDevices;
  issuer: string;
}

/** Input of a step. */
export interface StepInput {
  txn: string;
  /** As typed; absent in the steps of passkeys. */
  userid?: string | undefined;
  rememberDevice?: boolean | undefined;
  stepUp?: StepUp | undefined;
  otp?: string | undefined;
  mfaMethod?: 'email' | 'sms' | 'totp' | undefined;
  phoneNumber?: string | undefined;
  sessionId?: string | undefined;
  rememberMe?: boolean | undefined;
  purpose?: 'sign_in' | 'registration' | 'conditional_registration' | undefined;
  /** `PublicKeyCredential` as JSON. */
  credential?: Record<string, unknown> | undefined;
  /** The `Device-Proof` header, if any. */
  proof?: string | undefined;
  /** The raw request body. */
  body: Uint8Array;
}

/** A step in progress: its transaction and its locked ceremony. */
export interface Flow {
  em: EntityManager;
  deps: FlowDeps;
  caller: SigninCaller;
  ceremony: Ceremony;
  input: StepInput;
  /** The registered device whose key signed this step, trusted or not; never revoked. */
  device: Device | null;
  /** The public key of a registration proof. */
  publicJwk: JWK | null;
  /** The code whose attempt was counted before this step. */
  counted: CountedCode | null;
  /** The WebAuthn challenge that this step has used up. */
  challenge: string | null;
}

/** The read-only input of a step's count. */
export type Checked = Readonly<Pick<Flow, 'caller' | 'ceremony' | 'input' | 'device'>>;

/** A response, and the evidence that this step verified. */
export interface Accepted<S extends CeremonyStep> {
  answer: Answers[S];
  /** At most one piece per step. */
  proved?: Evidence | undefined;
}

type Count = { rule: LimitRule; subject: string } | { sms: SmsToSend };

/** A refusal with its counters. The step's other writes are rolled back. */
export interface RefusedStep {
  refused: Problem;
  /** Counted after the rollback: budgets of wrong codes, and a refused SMS. */
  counts?: readonly Count[];
  /** For the audit log. */
  event?: Pick<AuditEntry, 'type' | 'subject' | 'detail'>;
}

/** An accepted step that ends the sign-in without signing in: its writes stay, and the response is a problem. */
export interface EndedSignIn {
  ended: Problem;
}

/** The outcome of a step. */
export type StepOutcome<S extends CeremonyStep> = Accepted<S> | EndedSignIn | RefusedStep;

/** The implementation of one step. */
export interface StepRule<S extends CeremonyStep> {
  /**
   * Decides from one read, without locks, and ends the sign-in by one write if this step's proof is all that it requires. Null,
   * with nothing written or counted: {@link count} and {@link take} decide.
   *
   * @param nextNonce replaces the sign-in's nonce
   */
  endAtOnce?(deps: FlowDeps, caller: SigninCaller, input: StepInput, nextNonce: string): Promise<Answers[S] | null>;
  /**
   * Counts the attempt before the decision; the count is kept regardless of the outcome. It can only count. Refuses when a
   * limit is reached.
   */
  count?(counters: Counters, flow: Checked): Promise<RefusedStep | { counted: CountedCode | null; challenge?: string }>;
  /** Decides. Its writes are rolled back if it refuses. */
  take(flow: Flow): Promise<StepOutcome<S>>;
}

/** A refused step of a sign-in that can continue: the next proof carries `nonce`. */
export class StepRefusal extends Refusal {
  constructor(
    problem: Problem,
    readonly step: SigninStep,
    readonly nonce?: string,
  ) {
    super(problem);
  }
}
