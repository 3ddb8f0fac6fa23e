import type { Pkce } from '../browser.ts';
import type { Change, Row } from './changes.ts';

/** The clock of each process is off by up to 2 s. */
export const toleranceMs = 4_500;

/** A violated rule. */
export class Violation extends Error {}

/** Regular expression of rules to skip, to search beyond a known fault. */
const passedOver = process.env['LATCHKEY_WALK_PASS_OVER'];

export function demand(holds: unknown, rule: string): asserts holds {
  if (holds || (passedOver && new RegExp(passedOver).test(rule))) return;
  throw new Violation(rule);
}

/** Evidence of one transaction, as observed by the test. */
export interface Piece {
  /** `grant`: an admin's recovery grant. `created`: a passkey that this sign-in needed. */
  kind: 'mail' | 'key' | 'factor' | 'recovery' | 'grant' | 'passkey' | 'created';
  /** Accounts that it proves; empty: the mailbox had no account when the code was created. */
  users: string[];
  mailbox?: string;
  method?: string;
  enrolments?: string[];
  jkt?: string;
  /** For a mail code: the accounts that had neither a passkey that counts nor a factor other than email. */
  soleFor?: string[];
  passkey?: string;
  /** Id of the recovery grant. */
  grant?: string;
  /** For a passkey: whether it verified the user by PIN or biometrics. */
  isVerified?: boolean;
  isSynced?: boolean;
  at: number;
  step: number;
}

/** A code delivered to a mailbox or phone. */
export interface Delivery {
  code: string;
  to: string;
  /** The transaction or session that requested it. */
  owner: string;
  purpose: 'sign-in' | 'factor' | 'phone' | 'email';
  /** Allowed recipients when it was created, with the accounts of each. */
  reach: Map<string, string[]>;
  /** The accounts of its recipient. */
  users: string[];
  madeAt: number;
  madeStep: number;
  /** The first step after it was made: of two requests at once, either may have come first. */
  nextStep: number;
  deliveredStep: number;
  isUsed: boolean;
}

/** A pending GET /authorize. */
export interface AuthRequest {
  flow: string;
  client: ClientModel;
  browser: number;
  prompt: string | undefined;
  maxAge: number | undefined;
  step: number;
  at: number;
  /** Whether it requires more than a device key. */
  needsPerson: boolean;
  /** Begun by the account page, whether to add a passkey; undefined: by an application. */
  addsPasskey?: boolean;
  /** Begun by the account page to add an authenticator app. */
  addsAuthenticator?: boolean;
  pkce: Pkce;
  issuer: string;
  scope: string;
}

export interface ProjectModel {
  id: string;
  name: string;
  slug: string;
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
  /** The origin of its pages with the SDK. */
  origin: string;
  /** Whether these pages can use passkeys of the issuer. */
  relatedOrigins: boolean;
  isDisabled: boolean;
  /** Whether its sign-ins must end with a passkey. */
  isPasskeyRequired: boolean;
}

export interface Transaction {
  name: string;
  txn: string;
  entry: 'sdk' | 'hosted' | 'console';
  client: ClientModel;
  jkt: string;
  begunAt: number;
  begunStep: number;
  /** The normalized address of the last accepted authenticate. */
  named: string | null;
  remember: boolean;
  /** `step_up` of the last accepted authenticate. */
  stepUp: string | null;
  /** Origin of the page. */
  origin: string;
  issuer: string;
  /** The last WebAuthn challenge. */
  challenge: { value: string; purpose: 'sign-in' | 'registration'; isUsed: boolean } | null;
  /** Time of SUCCESS. */
  endedAt: number | null;
  /** Whether the sign-in continues with a new passkey. */
  opensPasskey: boolean;
  /** Whether the sign-in ends with a new passkey. */
  owesPasskey: boolean;
  pieces: Piece[];
  /** The transaction that this one continues, with its evidence. */
  earlier: Transaction | null;
  request: AuthRequest | null;
  /** Only for pages with the SDK that send one. */
  pkce: Pkce | null;
  ceremony: string | null;
  /** Users for whom this transaction registered its key. */
  registered: string[];
  /** The step that last registered the key. */
  registeredStep: number;
  /** The step of the last authenticate with OTP_NEEDED. */
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
  entry: Transaction['entry'];
  remember: boolean;
  registeredAt: number;
  lastUsedAt: number;
  /** Whether a sign-in with it has proved everything that was required: only then is it trusted in others. */
  isProved: boolean;
  /** Since a directory deactivated its user: not trusted until the activation. Milliseconds; null: it is not. */
  suspendedAt: number | null;
  mfaRememberedAt: number | null;
}

/** A passkey, revoked or not. */
export interface PasskeyModel {
  id: string;
  user: string;
  project: string;
  /** Chosen by its authenticator. */
  credentialId: string;
  isSynced: boolean;
  /** Whether a use verified the user. */
  hasVerified: boolean;
  signCount: number;
  /** Step at which it was added. */
  step: number;
  isRevoked: boolean;
}

export interface EnrolmentModel {
  id: string;
  user: string;
  method: string;
  phone: string | null;
  /** The number when it was enrolled. */
  enrolledPhone: string | null;
  /** Secrets of an authenticator app that it may have: a reply does not identify which of several pending ones it shows. */
  secrets: Set<string>;
  verified: boolean;
  begunIn: string | null;
  /** The sign-in, or the session at the account page, in which it can be verified. */
  begunFor: string | null;
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
  /** Time of the last mail code or factor; null: none in this session. */
  personAt: number | null;
  personStep: number;
  /** Whether this proof has ended. */
  isStale: boolean;
  hasFactor: boolean;
  /** Whether it began with more than the mailbox. */
  isMfa: boolean;
  /** The passkey that it was proved by, or that its user created in it; null: none. */
  passkey: string | null;
  /** Time at which a recovery grant was used for it. */
  recoveredAt: number | null;
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
  /** Other parameters of the token request. */
  verifier: string | null;
  redirectUri: string | null;
  issuer: string;
  scope: string;
  isUsed: boolean;
  isReplayed: boolean;
}

/** The refresh tokens that follow from one code. */
export interface GrantModel {
  id: string;
  code: CodeModel;
  /** With `offline_access`: outlives the session. */
  isOffline: boolean;
  /** Oldest first; the last one is live. */
  tokens: string[];
  /** Replaced without being used, because the previous one was sent again. */
  ended: string[];
  /** Time of the last replacement. */
  rotatedAt: number;
  createdAt: number;
  lastUsedAt: number;
  /** Whether a reuse, a revocation or the end of the user's access ended it. */
  isEnded: boolean;
}

/** A user before the deactivation, and whether the identity has changed since. */
export interface HeldIdentity {
  row: Row;
  at: number;
  isRenamed: boolean;
}

/** An admin's recovery grant. */
export interface RecoveryModel {
  id: string;
  user: string;
  code: string;
  /** Recipients of its notice. */
  mailboxes: string[];
  /** Query of the link that cancels it, once the notice was delivered. */
  link: string | null;
  usableAt: number;
  expiresAt: number;
  /** The reason why it can no longer be used; null: it can, after its waiting time. */
  ended: string | null;
}

export interface TokenModel {
  accessToken: string;
  idToken: string;
  user: string;
  code: CodeModel;
  step: number;
  expiresAt: number;
  sid: string | null;
  /** The grant whose refresh tokens it came with. */
  grant: GrantModel | null;
  isRevoked: boolean;
}

/** The state of the test: evidence, and copies of rows that are changed outside of sign-in. */
export class Model {
  step = 0;
  /** The last step of the latest two requests at once. */
  meetingEnd = 0;
  now = 0;
  readonly users = new Map<string, Row>();
  /** Of inactive users. */
  readonly heldIdentities = new Map<string, HeldIdentity>();
  /** Rules of access to applications, and the applications that need one. */
  readonly accessRules = new Map<string, Row>();
  readonly assignedClients = new Set<string>();
  /** Requests to sign up, waiting or declined. */
  readonly signUpRequests = new Map<string, Row>();
  /** Steps at which accounts went to another person. */
  readonly handOvers = new Map<string, number>();
  /** Sign-ins that ended with a request for approval. */
  waited = 0;
  /** Soft deletes that were undone. */
  restores = 0;
  /** Users by the key of the row. */
  readonly consents = new Map<string, string>();
  readonly heldCodes = new Map<string, string>();
  readonly projects = new Map<string, Row>();
  readonly ceremonies = new Map<string, Row>();
  readonly transactions: Transaction[] = [];
  readonly devices = new Map<string, DeviceModel>();
  readonly passkeys = new Map<string, PasskeyModel>();
  readonly enrolments = new Map<string, EnrolmentModel>();
  readonly sessions = new Map<string, SessionModel>();
  readonly recoveryCodes = new Map<string, { user: string; isUsed: boolean; set: number }>();
  readonly deliveries: Delivery[] = [];
  readonly codes: CodeModel[] = [];
  readonly tokens: TokenModel[] = [];
  readonly grants: GrantModel[] = [];
  readonly recoveries: RecoveryModel[] = [];
  /** IDs of recoveries that a later one has ended. */
  readonly replacedRecoveries = new Set<string>();
  /** Recovery grants by the ids of their unsent notices. */
  readonly notices = new Map<string, RecoveryModel>();
  readonly clients: ClientModel[] = [];
  /** The last step that revoked, reset, moved or disabled the user's credentials, and the reason. */
  readonly killed = new Map<string, { step: number; why: string }>();
  /**
   * Last step that may have ended the user's open sign-ins, but need not: a change of number, a first one, a logout, a first
   * passkey, new recovery codes.
   */
  readonly interrupted = new Map<string, number>();
  readonly revokedKeys = new Set<string>();
  /** Session ids by cookie value. */
  readonly cookies = new Map<string, string>();
  /** Wrong codes by requester. */
  readonly failures = new Map<string, number>();
  /** Requested codes by address. */
  readonly asked = new Map<string, number>();
  /** Whether a command exhausted budgets. */
  isTainted = false;
  /** Unsent messages by id. */
  readonly waiting = new Map<string, Omit<Delivery, 'code' | 'deliveredStep' | 'to' | 'users'>>();

  /** Updates the copies of users, policies and ceremonies. */
  mirror(changes: readonly Change[]): void {
    for (const { table, op, old, new: now } of changes) {
      if (table === 'users' && op === 'DELETE') this.users.delete(old?.['id']);
      else if (table === 'users' && now) this.users.set(now['id'], now);
      if (table === 'projects' && now) this.projects.set(now['id'], now);
      if (table === 'ceremonies' && now) this.ceremonies.set(now['id'], now);
      if (table === 'sign_up_requests' && old) this.signUpRequests.delete(old['id']);
      if (table === 'sign_up_requests' && now) this.signUpRequests.set(now['id'], now);
      if (table === 'access_rules' && old) this.accessRules.delete(old['id']);
      if (table === 'access_rules' && now) this.accessRules.set(now['id'], now);
      if (table === 'clients' && now) this.assignedClients[now['access'] === 'assigned' ? 'add' : 'delete'](now['id']);
    }
  }

  kill(user: string, why: string, step = this.step): void {
    this.killed.set(user, { step, why });
  }

  /** The first step that comes after the request of this one, also where two requests are in flight. */
  get nextStep(): number {
    return Math.max(this.step, this.meetingEnd) + 1;
  }

  /** Whether evidence of that step is still valid for the user. */
  isAlive(user: string, step: number): boolean {
    return (this.killed.get(user)?.step ?? -1) < step;
  }

  /** Ends the open recovery grants of a user. */
  endRecoveries(user: string, why: string): void {
    for (const one of this.recoveries) if (one.user === user) one.ended ??= why;
  }

  /** The user's recovery grant, after its waiting time. */
  usableRecovery(user: string): RecoveryModel | undefined {
    const isNow = ({ usableAt, expiresAt }: RecoveryModel) => usableAt <= this.now && this.now < expiresAt;
    return this.recoveries.find((one) => one.user === user && one.ended === null && isNow(one));
  }

  isAssigned(client: ClientModel): boolean {
    return this.assignedClients.has(client.id);
  }

  hasAccess(user: string, client: ClientModel): boolean {
    const rules = [...this.accessRules.values()];
    return !this.isAssigned(client) || rules.some((one) => one['client_id'] === client.id && one['user_id'] === user);
  }

  user(id: string): Row {
    return this.users.get(id) ?? {};
  }

  project(id: string): Row {
    return this.projects.get(id) ?? {};
  }

  /** Accounts of a project that match a typed address. */
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

  passkeysOf(user: string): PasskeyModel[] {
    return [...this.passkeys.values()].filter((one) => one.user === user && !one.isRevoked);
  }

  /** The live passkey of a project with this credential. */
  passkeyOf(project: string, credentialId: string): PasskeyModel | undefined {
    return [...this.passkeys.values()].find(
      (one) => one.project === project && one.credentialId === credentialId && !one.isRevoked,
    );
  }

  /** Whether a passkey of the project has or had this credential. */
  knowsCredential(project: string, credentialId: string): boolean {
    return [...this.passkeys.values()].some((one) => one.project === project && one.credentialId === credentialId);
  }

  /** Whether the user has a passkey that has verified them, even while the project's passkeys are off. */
  holdsPasskey(user: string): boolean {
    return this.passkeysOf(user).some(({ hasVerified }) => hasVerified);
  }

  /** Whether the user has a passkey that is a second factor: one that has verified them, in a project that uses them. */
  countsPasskey(user: string): boolean {
    return this.project(this.user(user)['project_id'])['passkeys'] === true && this.holdsPasskey(user);
  }

  /** Whether the current policy, or the client, requires a passkey of this user. */
  requiresPasskey(user: string, client?: ClientModel): boolean {
    const project = this.project(this.user(user)['project_id']);
    const byPolicy = project['passkeys'] === true && project['passkey_policy'] === 'required';
    const isAdmin = project['built_in'] === 'console';
    return byPolicy || client?.isPasskeyRequired === true || (isAdmin && this.countsPasskey(user));
  }

  /** Whether a mail code with a new device is not enough for the user. */
  asksMore(user: string, client: ClientModel): boolean {
    const isRequired = this.project(this.user(user)['project_id'])['mfa_policy'] === 'required';
    return isRequired || this.factorsOf(user).length > 0 || this.requiresPasskey(user, client);
  }

  /** Whether the session meets the current policy, and that of the client. */
  allows({ user, passkey }: SessionModel, client?: ClientModel): boolean {
    return this.meetsPolicy(user) && (passkey !== null || !this.requiresPasskey(user, client));
  }

  /** Whether the user meets the current policy of their project, by a factor or a passkey. */
  meetsPolicy(user: string): boolean {
    return this.meetsByFactor(user) || this.countsPasskey(user);
  }

  /** Whether their factors alone meet it. @param met factors that this step verifies */
  meetsByFactor(user: string, met: readonly string[] = []): boolean {
    const project = this.project(this.user(user)['project_id']);
    if (project['mfa_policy'] !== 'required') return true;
    const verifying = met.flatMap((id) => this.enrolments.get(id) ?? []);
    const factors = [...this.factorsOf(user), ...verifying.filter((one) => one.user === user)];
    return factors.some(({ method }) => method !== 'email' || project['email_factor']);
  }
}

/** Recipients of an account's codes. */
export function mailboxOf(user: Row): string {
  return fold(user['email'] ?? user['user_name'] ?? '');
}

/** Normalizes an address for comparison. */
export function fold(address: string): string {
  return address.trim().normalize('NFC').toLowerCase();
}
