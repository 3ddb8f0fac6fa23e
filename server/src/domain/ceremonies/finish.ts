import type { Device } from '../devices/device.entity.ts';
import { secondsLater } from '../kernel/clock.ts';
import { constant, execute, sql } from '../kernel/statement.ts';
import { sdkScope } from '../tokens/claims.ts';
import type { User } from '../users/user.entity.ts';
import type { Flow } from './flow.ts';
import type { Success } from './steps.ts';

/** How long what a step-up is for may follow the proof. */
const stepUpSeconds = 5 * 60;

export interface Proved {
  user: User;
  device: Device;
  /** True where this sign-in has changed neither of them. */
  isStored?: boolean;
  /** RFC 8176. */
  amr: readonly string[];
  /** For so long this device skips the second factor; 0: not at all. */
  skipFactorSeconds?: number;
  recoveryCodes?: string[] | null;
}

/** Everything that was owed is proved: ends the ceremony, and gives the code or the session. The only place that does. */
export async function finish(flow: Flow, proved: Proved): Promise<Success> {
  const { em, deps, caller, ceremony } = flow;
  const { user } = proved;
  const now = deps.clock.now();
  em.assign(ceremony, { amr: [...proved.amr] });
  // A step-up goes on, in this very sign-in, for as long as the proof is fresh.
  if (ceremony.stepUp) ceremony.expiresAt = secondsLater(now, stepUpSeconds);
  else ceremony.finishedAt = now;
  await noteSignIn(flow, proved, now);
  const ending = caller.request ? await session(flow, proved) : { code: await code(flow, proved) };
  const recoveryCodes = (await claim(flow, user)) ?? proved.recoveryCodes;
  return { status: 'SUCCESS', ...ending, ...(recoveryCodes && { recoveryCodes }) };
}

/** The user's and the device's last use, and the audit event. What is in the database already is told in one statement. */
async function noteSignIn({ em, deps, caller, ceremony }: Flow, proved: Proved, now: Date): Promise<void> {
  const { user, device } = proved;
  const event = {
    type: 'user.signed_in',
    actor: caller.actor,
    projectId: caller.project.id,
    clientId: caller.client.id,
    subject: { kind: 'user', id: user.id, name: user.userName },
    detail: { amr: [...proved.amr], deviceId: device.id },
  };
  const countsAsUse = !ceremony.stepUp || device.remembered;
  if (!proved.isStored || !countsAsUse) {
    user.lastSignInAt = now;
    if (countsAsUse) deps.devices.used(device, caller.project, proved.skipFactorSeconds ?? 0);
    deps.audit.record(em, event);
    return;
  }
  const { lastUsedAt, trustedUntil, mfaRememberedUntil } = deps.devices.use(
    device,
    caller.project,
    proved.skipFactorSeconds ?? 0,
  );
  await execute(
    em,
    constant(sql`with seen as (
        update users set last_sign_in_at = ${now} where id = ${user.id}
      ), used as (
        update devices set last_used_at = ${lastUsedAt}, trusted_until = ${trustedUntil},
          mfa_remembered_until = ${mfaRememberedUntil} where id = ${device.id}
      )
      ${deps.audit.insertion(event)}`),
  );
}

/** For a page of the application: a code without redirect_uri, bound to the page's challenge where it sent one. */
async function code({ em, deps, caller, ceremony }: Flow, { user, amr }: Proved): Promise<string> {
  return deps.tokens.issueCode(em, {
    clientId: caller.client.id,
    userId: user.id,
    codeChallenge: ceremony.codeChallenge ?? undefined,
    scope: sdkScope,
    authTime: deps.clock.now(),
    amr: [...amr],
  });
}

/** For the hosted page: an SSO session, under which /authorize then answers the request that waits. */
async function session({ em, deps, caller }: Flow, { user, device, amr }: Proved) {
  const { secret } = await deps.sessions.signIn(em, {
    project: caller.project,
    userId: user.id,
    deviceId: device.id,
    amr: [...amr],
    authTime: deps.clock.now(),
    freshAt: amr.length > 1 ? deps.clock.now() : undefined,
    requestMoment: caller.request?.moment,
    currentSecret: caller.sessionSecret,
    actor: caller.actor,
  });
  return { sessionSecret: secret, projectId: caller.project.id };
}

/** The holder of a set-up link becomes an owner, and gets the recovery codes of that. */
async function claim({ em, deps, caller }: Flow, user: User): Promise<string[] | null> {
  const setupLinkId = caller.request?.setupLinkId;
  if (!setupLinkId) return null;
  await deps.setupLinks.claim(em, setupLinkId, user.id, caller.actor);
  return deps.mfa.recoveryCodes.issue(em, user.id);
}
