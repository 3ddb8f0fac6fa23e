import type { Excused } from '../connections/realms.ts';
import type { Credential } from '../credentials/credential.entity.ts';
import { Device } from '../credentials/device.entity.ts';
import { type Enrolment, type MfaMethod, mfaMethods } from '../mfa/enrolment.entity.ts';
import { type Policy, strictest } from '../policy/organization.ts';
import type { SignInContext } from '../policy/requirements.ts';
import { strengthOf } from '../policy/requirements.ts';
import { asksForFacts, requiresPasskey } from '../policy/session.ts';
import { type Site, siteOf } from '../projects/site.ts';
import type { CheckedPage, SigninCaller } from './callers.ts';
import type { Ceremony } from './ceremony.entity.ts';
import type { Flow, FlowDeps } from './flow.ts';

/** The context of an actual or possible sign-in. */
interface Place {
  em: Flow['em'];
  deps: Pick<FlowDeps, 'devices' | 'passkeys' | 'delivery' | 'testMode'>;
  caller: Pick<SigninCaller, 'project' | 'client' | 'request' | 'organization' | 'excused'>;
  ceremony: Pick<Ceremony, 'stepUp'>;
}

/** The current policy and factors. @param credential of the browser; of a new one, only its user */
export async function signInContext(
  flow: Place,
  factors: readonly Enrolment[],
  credential: Credential | { user: { id: string } },
): Promise<SignInContext> {
  const { em, deps, caller } = flow;
  const owner = { projectId: caller.project.id, userId: credential.user.id };
  return contextOf(flow, {
    factors,
    holdsPasskey: asksForPasskeys(flow, factors) && (await deps.passkeys.isHeldBy(em, owner)),
    skipsFactor: credential instanceof Device && deps.devices.skipsFactor(credential, caller.project),
  });
}

/** The facts of a user and a browser that the policy depends on. */
export interface PersonFacts {
  factors: readonly { method: MfaMethod; besidePasskey?: boolean }[];
  /** Whether a passkey has verified the user, also while passkeys are off. Not read unless {@link asksForPasskeys}. */
  holdsPasskey: boolean;
  /** `remember_me` lets the device skip the factor. */
  skipsFactor: boolean;
}

/** The page and the sign-in that the policy depends on. */
interface Asking extends Pick<Place, 'ceremony'> {
  caller: Pick<SigninCaller, 'project' | 'request' | 'organization' | 'excused'> & {
    client: Pick<SigninCaller['client'], 'passkeyRequired'>;
  };
}

/** Pure. */
export function contextOf(asking: Asking, { factors, holdsPasskey, skipsFactor }: PersonFacts): SignInContext {
  const { caller } = asking;
  const { client, project } = caller;
  const { acrValues, acrEssential = false } = caller.request ?? {};
  const holds = passkeysCount(asking) && holdsPasskey;
  // By a setup link, an admin creates another one.
  const hasPasskey = holds && !isByLink(caller);
  const passkeyRequired = client.passkeyRequired || requiresPasskey(project, holds);
  const policy = policyOf(caller);
  return {
    policy: policy.mfaPolicy,
    emailFactor: project.emailFactor,
    factors: factors.map((factor) => strengthOf(factor, hasPasskey)),
    hasPasskey,
    skipsFactor,
    // A passkey can meet the request: its owner is asked, instead of the device key alone.
    personRequired:
      isPersonRequired(asking) ||
      caller.excused?.failed != null ||
      (acrValues != null && hasPasskey) ||
      passkeyRequired,
    changesAccount: changesAccount(asking) || passkeyRequired,
    passkeyRequired,
    needsPasskey: acrEssential,
    ...(policy.connectionOf !== undefined && { connectionOf: policy.connectionOf }),
  };
}

/** The rules of the sign-in: those of the project, and of the organization of the request. */
export function policyOf({
  project,
  organization,
  excused,
}: Pick<SigninCaller, 'project' | 'organization' | 'excused'>): Policy {
  const { connectionOf, ...others } = strictest(project, organization);
  return { ...others, ...(connectionOf !== undefined && !isExcused(excused, connectionOf) && { connectionOf }) };
}

/** Whether a connection of the organization needs no answer in the flow. */
export function isExcused(excused: Excused | undefined, organizationId: string): boolean {
  return excused?.answered === organizationId || excused?.failed === organizationId;
}

/** Whether the policy depends on the user's passkeys. */
export function asksForPasskeys(asking: Asking, factors: PersonFacts['factors']): boolean {
  const { client, request } = asking.caller;
  const isMarked = factors.some(({ besidePasskey }) => besidePasskey);
  const byRequest = changesAccount(asking) || request?.acrValues != null;
  return (
    passkeysCount(asking) && (asksForFacts(policyOf(asking.caller)) || client.passkeyRequired || byRequest || isMarked)
  );
}

/** Also while passkeys are off: the mailbox alone must not change the phone (decisions/0108). */
function passkeysCount({ caller, ceremony }: Asking): boolean {
  return changesPhone(ceremony) || caller.project.passkeys;
}

/** An authenticator app and a change of the phone need the same evidence as a passkey. */
function changesAccount({ caller: { request }, ceremony }: Asking): boolean {
  const isAsked = request?.addsPasskey === true || request?.addsAuthenticator === true;
  return changesPhone(ceremony) || ceremony.stepUp === 'create_passkey' || isAsked;
}

function changesPhone({ stepUp }: Asking['ceremony']): boolean {
  return stepUp === 'change_phone_number';
}

/** Whether every user must sign in with a passkey here: by the project's policy or for this client. */
export function isPasskeyRequired({ project, client }: Pick<SigninCaller, 'project' | 'client'>): boolean {
  return client.passkeyRequired || requiresPasskey(project, false);
}

/** Whether a setup link started the sign-in. It proves access to the server: its holder can replace a lost passkey. */
function isByLink({ request }: Pick<SigninCaller, 'request'>): boolean {
  return request?.setupLinkId != null;
}

/** Whether the user has a passkey that counts as second factor, and that no setup link replaces. */
export async function hasPasskey(
  { em, deps, caller }: Pick<Flow, 'em' | 'deps'> & { caller: CheckedPage },
  userId: string,
): Promise<boolean> {
  return !isByLink(caller) && deps.passkeys.isSecondFactorOf(em, caller.project, userId);
}

/** Whether the project uses passkeys, and pages of this origin can use them. */
export function mayUsePasskeys({ deps, caller }: { deps: Pick<FlowDeps, 'issuer'>; caller: CheckedPage }): boolean {
  const isOwnPage = caller.origin === siteOfPage({ deps, caller }).origin;
  return caller.project.passkeys && (isOwnPage || caller.client.relatedOrigins);
}

/** The site of the sign-in: that of its request's issuer, or the base host for an application's own page. */
export function siteOfPage({
  deps,
  caller,
}: {
  deps: Pick<FlowDeps, 'issuer'>;
  caller: Pick<CheckedPage, 'request'>;
}): Site {
  return siteOf(deps.issuer, caller.request?.issuer);
}

/** Whether a device key alone is insufficient: step-up, `prompt=login`, `max_age`, a setup link, or an identity to store. */
export function isPersonRequired({
  caller: { request },
  ceremony,
}: {
  caller: Pick<SigninCaller, 'request'>;
  ceremony: Pick<Ceremony, 'stepUp'>;
}): boolean {
  const isAsked = request?.personRequired === true || request?.setupLinkId != null || request?.connectingId != null;
  return ceremony.stepUp != null || isAsked;
}

/** Methods that can be enrolled: those the project offers, SMS only if it can be sent. */
export async function offeredMethods({ em, deps, caller }: Omit<Place, 'ceremony'>): Promise<MfaMethod[]> {
  const { project } = caller;
  const canSendSms = deps.delivery.isAvailable('sms') || (await deps.testMode.holds(em, project));
  return mfaMethods.filter((method) => {
    if (!project.offeredFactors.includes(method)) return false;
    if (method === 'sms') return canSendSms;
    return method !== 'email' || policyOf(caller).mfaPolicy !== 'required' || project.emailFactor;
  });
}
