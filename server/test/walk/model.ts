import type { Pkce } from '../browser.ts';
import type { Change, Row } from './changes.ts';

/** Clocks of processes differ from the test's by up to 2 s each. */
export const toleranceMs = 4_500;

/** A rule that the product broke. */
export class Violation extends Error {}

/** Rules that are passed over, to look behind a fault that is known: a regular expression, or nothing. */
const passedOver = process.env['LATCHKEY_WALK_PASS_OVER'];

export function demand(holds: unknown, rule: string): asserts holds {
  if (holds || (passedOver && new RegExp(passedOver).test(rule))) return;
  throw new Violation(rule);
}

/** What was really proved in one transaction, as the test itself saw it. */
export interface Piece {
  kind: 'mail' | 'key' | 'factor' | 'recovery';
  /** Accounts that it can speak for; none: the mailbox belonged to nobody when the code was made. */
  users: string[];
  mailbox?: string;
  method?: string;
  enrolments?: string[];
  jkt?: string;
  at: number;
  step: number;
}

/** A code that reached a mailbox or a phone. */
export interface Delivery {
  code: string;
  to: string;
  /** The transaction or session that asked for it. */
  owner: string;
  purpose: 'sign-in' | 'factor' | 'phone';
  /** Where it could be sent when it was made, and the accounts whose codes went there then. */
  reach: Map<string, string[]>;
  /** Those of the mailbox that it was sent to. */
  users: string[];
  madeAt: number;
  madeStep: number;
  deliveredStep: number;
  isUsed: boolean;
}

/** GET /authorize that waits for its person. */
export interface AuthRequest {
  flow: string;
  client: ClientModel;
  browser: number;
  prompt: string | undefined;
  maxAge: number | undefined;
  step: number;
  at: number;
  /** Whether a device key alone is not enough. */
  needsPerson: boolean;
  pkce: Pkce;
}

export interface ProjectModel {
  id: string;
  name: string;
  clients: ClientModel[];
  scimToken: string;
}
export interface ClientModel {
  id: string;
  name: string;
  project: ProjectModel;
  apiKey: string;
  secretKey: string;
  redirectUri: string;
  isDisabled: boolean;
}

export interface Transaction {
  name: string;
  txn: string;
  door: 'sdk' | 'hosted' | 'console';
  client: ClientModel;
  jkt: string;
  begunAt: number;
  begunStep: number;
  /** The address of the last authenticate that was not refused, as it is compared. */
  named: string | null;
  remember: boolean;
  isStepUp: boolean;
  pieces: Piece[];
  request: AuthRequest | null;
  /** Of a page of the SDK that sends one. */
  pkce: Pkce | null;
  ceremony: string | null;
  /** Users on whom this transaction registered its key. */
  registered: string[];
  /** The step of the last authenticate that answered OTP_NEEDED. */
  askedStep: number;
  /** Milliseconds since the epoch. */
  clock(): number;
}

export interface DeviceModel {
  id: string;
  user: string;
  client: string;
  project: string;
  jkt: string;
  door: Transaction['door'];
  remember: boolean;
  registeredAt: number;
  lastUsedAt: number;
  /** Sign-ins that it finished. */
  uses: number;
  mfaRememberedAt: number | null;
}

export interface EnrolmentModel {
  id: string;
  user: string;
  method: string;
  phone: string | null;
  secret: string | null;
  verified: boolean;
  begunIn: string | null;
  begunStep: number;
  begunAt: number;
  begunWithPerson: boolean;
  begunByKey: string | null;
  usedSteps: Set<number>;
}

export interface SessionModel {
  id: string;
  user: string;
  project: string;
  device: string | null;
  amr: string[];
  authTime: number;
  step: number;
  /** When a mail code or a factor last proved the person; null: never in this session. */
  personAt: number | null;
  personStep: number;
  hasFactor: boolean;
  ended: boolean;
}

export interface CodeModel {
  code: string;
  user: string;
  client: ClientModel;
  session: string | null;
  amr: string[];
  authTime: number;
  step: number;
  at: number;
  /** What the token endpoint must be told beside it. */
  verifier: string | null;
  redirectUri: string | null;
  isUsed: boolean;
  isReplayed: boolean;
}

export interface TokenModel {
  accessToken: string;
  idToken: string;
  user: string;
  code: CodeModel;
  step: number;
  expiresAt: number;
  sid: string | null;
}

/** All that the test knows: what was really proved, and mirrors of rows that others than sign-in may change. */
export class Model {
  step = 0;
  now = 0;
  readonly users = new Map<string, Row>();
  readonly projects = new Map<string, Row>();
  readonly ceremonies = new Map<string, Row>();
  readonly devices = new Map<string, DeviceModel>();
  readonly enrolments = new Map<string, EnrolmentModel>();
  readonly sessions = new Map<string, SessionModel>();
  readonly recoveryCodes = new Map<string, { user: string; isUsed: boolean; set: number }>();
  readonly deliveries: Delivery[] = [];
  readonly codes: CodeModel[] = [];
  readonly tokens: TokenModel[] = [];
  readonly clients: ClientModel[] = [];
  /** The step at which the person's credentials were last revoked, reset, moved or switched off, and by what. */
  readonly killed = new Map<string, { step: number; why: string }>();
  readonly revokedKeys = new Set<string>();
  /** Session cookies by their value. */
  readonly cookies = new Map<string, string>();
  /** Wrong codes, by requester. */
  readonly failures = new Map<string, number>();
  /** Codes that were asked for, by address. */
  readonly asked = new Map<string, number>();
  /** Whether budgets were used up behind the scenes. */
  isTainted = false;
  /** Messages that have not left yet, by their id. */
  readonly waiting = new Map<string, Omit<Delivery, 'code' | 'deliveredStep' | 'to' | 'users'>>();

  /** Keeps the mirrors of users, policies and ceremonies. */
  mirror(changes: readonly Change[]): void {
    for (const { table, op, old, new: now } of changes) {
      if (table === 'users' && op === 'DELETE') this.users.delete(old?.['id']);
      else if (table === 'users' && now) this.users.set(now['id'], now);
      if (table === 'projects' && now) this.projects.set(now['id'], now);
      if (table === 'ceremonies' && now) this.ceremonies.set(now['id'], now);
    }
  }

  kill(user: string, why: string, step = this.step): void {
    this.killed.set(user, { step, why });
  }

  /** Whether something of that step is still worth something for the user. */
  isAlive(user: string, step: number): boolean {
    return (this.killed.get(user)?.step ?? -1) < step;
  }

  user(id: string): Row {
    return this.users.get(id) ?? {};
  }

  project(id: string): Row {
    return this.projects.get(id) ?? {};
  }

  /** Accounts of a project that a typed address can mean. */
  named(projectId: string, address: string): Row[] {
    return [...this.users.values()].filter(
      (user) =>
        user['project_id'] === projectId && (user['email_key'] === address || user['user_name_key'] === address),
    );
  }

  factorsOf(user: string): EnrolmentModel[] {
    return [...this.enrolments.values()].filter((one) => one.user === user && one.verified);
  }

  sessionsOf(user: string): SessionModel[] {
    return [...this.sessions.values()].filter((one) => one.user === user && !one.ended);
  }

  /** Whether the person meets the policy of their project as it is today. @param met factors that this step verifies */
  meetsPolicy(user: string, met: readonly string[] = []): boolean {
    const project = this.project(this.user(user)['project_id']);
    if (project['mfa_policy'] !== 'required') return true;
    const verifying = met.flatMap((id) => this.enrolments.get(id) ?? []);
    const factors = [...this.factorsOf(user), ...verifying.filter((one) => one.user === user)];
    return factors.some(({ method }) => method !== 'email' || project['email_factor']);
  }
}

/** Where codes of an account go. */
export function mailboxOf(user: Row): string {
  return fold(user['email'] ?? user['user_name'] ?? '');
}

/** As addresses are compared. */
export function fold(address: string): string {
  return address.trim().normalize('NFC').toLowerCase();
}
