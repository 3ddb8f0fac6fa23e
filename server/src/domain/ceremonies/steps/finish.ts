import type { Credential } from '../../credentials/credential.entity.ts';
import { Device } from '../../credentials/device.entity.ts';
import { notedUse } from '../../credentials/devices.ts';
import { secondsLater } from '../../kernel/clock.ts';
import { refuse } from '../../kernel/problem.ts';
import { execute, sql } from '../../kernel/sql.ts';
import {
  accountOf,
  type Evidence,
  federatedOf,
  grantOf,
  has,
  isRecovered,
  provedPasskey,
  registeredIn,
  withPiece,
} from '../../policy/evidence.ts';
import { type FactorStrength, mayAddPasskey, nextRequirement, type SignInContext } from '../../policy/requirements.ts';
import { passkeyPolicyOf } from '../../projects/project.entity.ts';
import { sdkScope } from '../../tokens/scope.ts';
import type { User } from '../../users/user.entity.ts';
import { notedSignIn } from '../../users/user-writing.ts';
import type { Flow } from '../flow.ts';
import { notify } from '../notices.ts';
import { hasPasskey, mayUsePasskeys, signInContext } from '../sign-in-context.ts';
import { type Conclusion, concluded, type SignedIn, sessionOf, signInEvent } from './conclusion.ts';
import type { Success } from './steps.ts';

/** Seconds after the proof within which the change of a step-up, or a new passkey, must follow. */
const stepUpSeconds = 5 * 60;

export interface Ended {
  user: User;
  /** The device or passkey that signed in; null: an upstream provider did. */
  credential: Credential | null;
  /** The piece that this step adds to the evidence. */
  proved: Evidence;
  /** True if this sign-in changed neither user nor device. */
  isStored?: boolean;
  /** Read in this step, if it has changed no factor and no passkey since. */
  context?: SignInContext;
  /** Seconds for which this device skips the second factor; 0: never. */
  skipFactorSeconds?: number;
  recoveryCodes?: string[] | null;
}

/** The end of a sign-in by a device or passkey. */
export interface Proved extends Ended {
  credential: Credential;
}

/**
 * Ends the ceremony and issues the code or the session. Throws if the evidence does not name this user and credential, or
 * if a requirement is still open: a step that calls too early is a bug.
 */
export async function finish(flow: Flow, ending: Ended): Promise<Success> {
  const { deps, caller, ceremony } = flow;
  const { conclusion, offersPasskey } = await conclude(flow, ending);
  await checkIdentity(flow, ending);
  const now = deps.clock.now();
  await noteSignIn(flow, ending, conclusion, now);
  const connected = await connect(flow, ending);
  await joinByAddress(flow, ending);
  if (offersPasskey) ceremony.stepUp = 'create_passkey';
  // A step-up stays open while the proof is fresh.
  if (ceremony.stepUp) ceremony.expiresAt = secondsLater(now, stepUpSeconds);
  else {
    ceremony.finishedAt = now;
    // The evidence names the account.
    ceremony.address = null;
  }
  const given = caller.request
    ? await session(flow, ending, { ...conclusion, connected })
    : { code: await code(flow, ending.user, conclusion) };
  const recoveryCodes = (await claim(flow, ending.user)) ?? ending.recoveryCodes;
  return {
    status: 'SUCCESS',
    ...given,
    ...(recoveryCodes && { recoveryCodes }),
    ...(offersPasskey && { offersPasskey }),
  };
}

/**
 * Refuses `transaction-expired` after the answer of a provider whose connection has been disabled or changed in the meantime, or to which the
 * user has no identity any more.
 */
async function checkIdentity({ ceremony, deps, em }: Flow, { proved, user }: Ended): Promise<void> {
  const upstream = federatedOf(withPiece(ceremony.evidence, proved));
  if (upstream && !(await deps.identities.isUsable(em, user, upstream))) refuse({ code: 'transaction-expired' });
}

/** @returns and whether the hosted page may offer a passkey */
async function conclude(flow: Flow, ending: Ended): Promise<{ conclusion: Conclusion; offersPasskey: boolean }> {
  const { user, credential, proved } = ending;
  const { ceremony } = flow;
  const evidence = withPiece(ceremony.evidence, proved);
  const isNamed = evidence.some((piece) => {
    if (credential === null) return piece.kind === 'federated';
    const id = piece.kind === 'device-key' ? piece.device : piece.kind === 'passkey' ? piece.credential : undefined;
    return id === credential.id && credential.user.id === user.id;
  });
  if (accountOf(evidence) !== user.id || !isNamed) {
    throw new Error('the evidence of the sign-in names another user or credential');
  }
  const context = ending.context ?? (await currentContext(flow, ending));
  if (nextRequirement(evidence, context) !== 'nothing') throw new Error('a requirement of the sign-in is still open');
  return {
    conclusion: concluded(evidence, await isMailedBesidePasskey(flow, user, evidence)),
    offersPasskey: await mayOffer(flow, user, evidence, context.factors),
  };
}

/**
 * Stores the identity that waits for this flow, after a proof of the account by its mailbox or passkey (decisions/0387).
 *
 * @returns the organizations whose connection has signed in, or was replaced by the proof of the person while it failed
 */
async function connect(flow: Flow, { user, proved }: Ended): Promise<string[]> {
  const { em, deps, caller, ceremony } = flow;
  const connectingId = caller.request?.connectingId;
  const evidence = withPiece(ceremony.evidence, proved);
  const organization = federatedOf(evidence)?.organization;
  const connected = organization === undefined ? [] : [organization];
  if (!(has(evidence, 'mail-code') || provedPasskey(evidence))) return connected;
  const failed = caller.excused?.failed;
  if (failed != null && organization === undefined) {
    recordFallback(flow, user, failed);
    connected.push(failed);
  }
  if (!connectingId) return connected;
  const connection = await deps.identities.linkProved(em, connectingId, user, caller.actor);
  if (!connection) return connected;
  await notify(flow, user, { template: 'identity-changed', change: 'linked', provider: connection.name });
  return connection.organizationId == null ? connected : [...connected, connection.organizationId];
}

function recordFallback({ caller, deps, em }: Flow, user: User, organizationId: string): void {
  const { actor, client, project } = caller;
  const subject = { kind: 'user', id: user.id, name: user.userName };
  const about = { projectId: project.id, clientId: client.id, subject, detail: { organizationId } };
  deps.audit.record(em, { type: 'connection.fallback_used', actor, ...about });
}

/**
 * Memberships by the login address: as a guest of organizations whose directories named it, after a mail code or the answer of a provider,
 * and by its domain, if a code has proved it in this sign-in.
 */
async function joinByAddress({ em, deps, caller, ceremony }: Flow, { user, credential, proved }: Ended): Promise<void> {
  if (!caller.project.organizationsEnabled || !user.email) return;
  const evidence = withPiece(ceremony.evidence, proved);
  const isProved = evidence.some((piece) => piece.kind === 'mail-code' && piece.address === user.email);
  if (isProved || credential === null) await deps.directoryGuests.admit(em, user, caller.actor);
  if (isProved) await deps.domainJoins.join(em, user, user.email, caller.actor);
}

function signedInBy({ user, credential, proved }: Ended): SignedIn {
  if (credential === null) {
    return { user, credential: { kind: 'federated', id: federatedOf([proved])?.connection ?? '' } };
  }
  return { user, credential: { kind: credential instanceof Device ? 'device-key' : 'passkey', id: credential.id } };
}

/** Whether a factor is a code by mail, and the user has a passkey, also while passkeys are off. */
async function isMailedBesidePasskey({ em, deps }: Flow, user: User, evidence: readonly Evidence[]): Promise<boolean> {
  if (!evidence.some((piece) => piece.kind === 'factor' && piece.method === 'email')) return false;
  return deps.passkeys.isHeldBy(em, { projectId: user.project.id, userId: user.id });
}

async function currentContext(flow: Flow, { user, credential }: Ended): Promise<SignInContext> {
  await flow.em.flush();
  return signInContext(flow, await flow.deps.mfa.factors(flow.em, user), credential ?? { user });
}

/**
 * Whether to offer a passkey on the hosted page: after a mail code, or after any sign-in that allows it if the project
 * prefers passkeys, to users without one or with a lost one; or because the user asked for it on the account page.
 */
async function mayOffer(
  flow: Flow,
  user: User,
  evidence: readonly Evidence[],
  factors: readonly FactorStrength[],
): Promise<boolean> {
  const { caller, ceremony } = flow;
  if (
    !caller.request ||
    caller.request.addsAuthenticator ||
    has(evidence, 'new-passkey') ||
    !ceremony.rememberDevice ||
    !mayUsePasskeys(flow)
  )
    return false;
  const isOffered = has(evidence, 'mail-code') || passkeyPolicyOf(caller.project) === 'preferred';
  const isAsked = caller.request.addsPasskey || isRecovered(evidence);
  if (!isOffered && !isAsked) return false;
  const holdsPasskey = await hasPasskey(flow, user.id);
  return (isAsked || !holdsPasskey) && mayAddPasskey(evidence, { factors, hasPasskey: holdsPasskey });
}

/** Writes the last use of user and device, and the audit event; in one statement if both rows are already stored. */
async function noteSignIn(flow: Flow, ending: Ended, conclusion: Conclusion, now: Date): Promise<void> {
  const { em, deps, caller, ceremony } = flow;
  const { user, credential } = ending;
  if (conclusion.freshAt) await deps.guessing.remember(em, user, caller.actor.ip);
  const event = signInEvent(caller, signedInBy(ending), conclusion);
  if (!(credential instanceof Device)) {
    user.lastSignInAt = now;
    for (const device of await registeredDevices(flow, user)) deps.devices.used(device, caller.project, 0);
    deps.audit.record(em, event);
    return;
  }
  const device = credential;
  const countsAsUse = !ceremony.stepUp || device.remembered;
  if (!ending.isStored || !countsAsUse) {
    user.lastSignInAt = now;
    if (countsAsUse) deps.devices.used(device, caller.project, ending.skipFactorSeconds ?? 0);
    deps.audit.record(em, event);
    return;
  }
  const use = deps.devices.use(device, caller.project, ending.skipFactorSeconds ?? 0);
  await execute(
    em,
    sql`with seen as (
        ${notedSignIn(user, now)}
      ), used as (
        ${notedUse(device, use)}
      )
      ${deps.audit.insertion(event)}`,
    { prepare: 'finish.note-use' },
  );
}

/** The devices that a sign-in registered before its passkey. */
async function registeredDevices({ em, ceremony }: Flow, user: User): Promise<Device[]> {
  const ids = registeredIn(ceremony.evidence);
  return ids.length === 0 ? [] : em.find(Device, { project: user.project.id, id: { $in: ids }, user, revokedAt: null });
}

/** For an application's page: a code without redirect_uri, bound to the page's code_challenge, if any. */
async function code({ em, deps, caller, ceremony }: Flow, user: User, { amr, authTime }: Conclusion): Promise<string> {
  return deps.tokens.issueCode(em, {
    projectId: caller.project.id,
    clientId: caller.client.id,
    userId: user.id,
    codeChallenge: ceremony.codeChallenge ?? undefined,
    scope: sdkScope,
    authTime,
    amr,
  });
}

async function session(flow: Flow, ending: Ended, conclusion: Conclusion) {
  const { em, deps, caller } = flow;
  const { user, proved } = ending;
  const signIn = sessionOf(deps, caller, signedInBy(ending), conclusion);
  const { secret, session: opened } = await deps.sessions.signIn(em, signIn);
  const granted = grantOf([proved]);
  if (granted) await deps.mfa.recoveryGrants.bind(em, user, granted.grant, opened.id);
  // Only this session can verify it, at the account page (decisions/0180).
  const app = { user, ceremonyId: opened.id, deviceId: null, method: 'totp', phone: null } as const;
  if (caller.request?.addsAuthenticator) await deps.mfa.begin(em, app);
  return { sessionSecret: secret, projectId: caller.project.id };
}

/** Makes the holder of a setup link an owner; returns new recovery codes. Null without a link. */
async function claim({ em, deps, caller }: Flow, user: User): Promise<string[] | null> {
  const setupLinkId = caller.request?.setupLinkId;
  if (!setupLinkId) return null;
  await deps.setupLinks.claim(em, setupLinkId, user.id, caller.actor);
  return deps.mfa.recoveryCodes.issue(em, user);
}
