import type { EntityManager } from '@mikro-orm/postgresql';
import { maskAddress, maskPhone } from '../delivery/mask.ts';
import { seconds, secondsLater } from '../kernel/clock.ts';
import { newSecret } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import { Enrolment, type MfaMethod } from '../mfa/enrolment.entity.ts';
import type { TotpSetup } from '../mfa/mfa.ts';
import type { CodePurpose } from '../otp/otp.ts';
import { resendAfterSeconds } from '../otp/sends.ts';
import { accountOf } from '../policy/evidence.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';
import type { CheckedPage, SigninCaller } from './callers.ts';
import { Ceremony, type CeremonyState, nonceTtlSeconds } from './ceremony.entity.ts';
import type { FlowDeps } from './flow.ts';
import { addressOf } from './recipients.ts';
import type { AuthorizationRequest } from './requests/authorization-request.entity.ts';
import { offeredMethods } from './sign-in-context.ts';
import { destinationOf, purposeOf } from './steps/second-factor.ts';
import { isOfferOpen } from './steps/session-proof.ts';

/** A code that was sent. Times are Unix seconds. */
export interface SentCode {
  sentTo: string;
  sentAt: number;
  resendAfterSeconds: number;
}

/** A second factor. `methods`: those that can be enrolled, if it is being enrolled. */
interface FactorPrompt {
  sessionId: string;
  method: MfaMethod | 'passkey';
  methods?: MfaMethod[];
}

/** The prompt that a pending sign-in has reached: the answer of its last step, which a reloaded page has lost. */
type ResumedPrompt =
  | ({ status: 'OTP_NEEDED'; codeFormat?: 'long' } & SentCode)
  /** `verify-device` follows. */
  | { status: 'OTP_VERIFIED' }
  /** `authenticate` follows. */
  | { status: 'DEVICE_REGISTERED' }
  | ({ status: 'MFA_REQUIRED' } & FactorPrompt)
  | ({ status: 'MFA_INITIATED'; method: MfaMethod; totp?: TotpSetup; sent?: SentCode } & FactorPrompt)
  | { status: 'PASSKEY_ENROLLMENT_NEEDED' }
  /** The sign-in is complete, and the user may add the passkey that they asked for. */
  | { status: 'PASSKEY_OFFERED' };

/** A pending sign-in, for the page that continues it. */
export interface Resumed {
  txn: string;
  nonce: string;
  expiresInSeconds: number;
  nowSeconds: number;
  /** The normalized address. */
  userid: string;
  /**
   * RFC 7638 thumbprint of the device key that the sign-in was started with; '' if the proof is a session, undefined if it is an
   * answer of a provider: the sign-in then takes the page's key.
   */
  jkt: string | undefined;
  rememberDevice: boolean;
  prompt: ResumedPrompt;
}

/** The hosted page, and the session of its browser. */
type ResumedPage = CheckedPage & Pick<SigninCaller, 'sessionSecret'>;
interface Place {
  em: EntityManager;
  deps: FlowDeps;
  caller: ResumedPage;
  ceremony: Ceremony;
}

/** States with a prompt after the address. */
const resumable: readonly CeremonyState[] = [
  'otp_sent',
  'otp_verified',
  'registered',
  'mfa_owed',
  'mfa_initiated',
  'passkey_owed',
];

/** A request of the hosted page. */
type PageRequest = TenantKey & Pick<AuthorizationRequest, 'addsPasskey'>;

export async function isPending(em: EntityManager, request: PageRequest, now: Date): Promise<boolean> {
  const [found] = await query(em, sql<{ id: string }>`select id ${pendingOf(request, now)} limit 1`);
  return found !== undefined;
}

/**
 * The pending sign-ins of a request of the hosted page, from an address on. A finished one is pending while it offers the
 * passkey that the user asked for.
 */
function pendingOf({ project, id, addsPasskey }: PageRequest, now: Date): Fragment {
  return sql`from ceremonies where project_id = ${project.id}::uuid and request_id = ${id}::uuid
    and address is not null and finished_at is null and expires_at > ${now}
    and ((jkt is not null or state = 'otp_verified') and step_up is null and state = any(${resumable}::text[])
      or ${addsPasskey} and state = 'stepped_up' and step_up = 'create_passkey')`;
}

/**
 * The newest pending sign-in of the hosted page's request, with a new `txn` and nonce: the former ones end, so that one
 * page at a time continues it. Changes nothing that a step decides from.
 */
export async function resumed(em: EntityManager, deps: FlowDeps, caller: ResumedPage): Promise<Resumed | null> {
  const { request } = caller;
  if (!request) return null;
  const now = deps.clock.now();
  const [txn, nonce] = [newSecret(deps.random), newSecret(deps.random)];
  const projectId = sql`${caller.project.id}::uuid`;
  const [taken] = await query(
    em,
    sql<{ id: string }>`with pending as (
        select id ${pendingOf(request, now)} and client_id = ${caller.client.id}::uuid and origin = ${caller.origin}
        order by created_at desc, id desc limit 1 for update)
      update ceremonies c set txn_hash = ${digest(txn)}, nonce_hash = ${digest(nonce)},
        nonce_expires_at = ${secondsLater(now, nonceTtlSeconds)}
      from pending where c.project_id = ${projectId} and c.id = pending.id returning c.id`,
  );
  if (!taken) return null;
  const ceremony = await em.findOneOrFail(Ceremony, { project: caller.project.id, id: taken.id });
  const prompt = await promptOf({ em, deps, caller, ceremony });
  if (!prompt) return null;
  return {
    txn,
    nonce,
    expiresInSeconds: seconds(ceremony.expiresAt) - seconds(now),
    nowSeconds: seconds(now),
    userid: ceremony.address ?? '',
    jkt: ceremony.jkt ?? (prompt.status === 'OTP_VERIFIED' ? undefined : ''),
    rememberDevice: ceremony.rememberDevice,
    prompt,
  };
}

async function promptOf(place: Place): Promise<ResumedPrompt | null> {
  const { ceremony } = place;
  switch (ceremony.state) {
    case 'otp_sent': {
      const { format, ...sent } = await sentCode(place, 'sign-in');
      const sentTo = maskAddress(ceremony.address ?? '');
      return { status: 'OTP_NEEDED', sentTo, ...sent, ...(format === 'long' && { codeFormat: format }) };
    }
    case 'otp_verified':
      return { status: 'OTP_VERIFIED' };
    case 'registered':
      return { status: 'DEVICE_REGISTERED' };
    case 'mfa_owed':
    case 'mfa_initiated':
      return factorPrompt(place);
    case 'passkey_owed':
      return { status: 'PASSKEY_ENROLLMENT_NEEDED' };
    case 'stepped_up':
      return (await isOfferOpen(place)) ? { status: 'PASSKEY_OFFERED' } : null;
    default:
      return null;
  }
}

/** The prompt of the required factor, under a new `session_id`; null if the factor no longer exists. */
async function factorPrompt(place: Place): Promise<ResumedPrompt | null> {
  const { em, deps, caller, ceremony } = place;
  const project = caller.project.id;
  const sessionId = newSecret(deps.random);
  ceremony.mfaSessionHash = digest(sessionId);
  const { enrolmentId } = ceremony;
  const factor = enrolmentId ? await em.findOne(Enrolment, { project, id: enrolmentId }) : null;
  const user = await em.findOne(User, { project, id: accountOf(ceremony.evidence) ?? '' });
  if (!user || (enrolmentId && factor?.user.id !== user.id)) return null;
  if (!factor) return { status: 'MFA_REQUIRED', sessionId, method: 'passkey' };
  const methods = factor.verifiedAt ? undefined : await offeredMethods(place);
  const asked = { sessionId, method: factor.method, ...(methods && { methods }) };
  if (ceremony.state === 'mfa_owed') {
    // A passkey is required, and a recovery code of the factor would replace it.
    const isPasskey = ceremony.mfaMethod === null;
    return { status: 'MFA_REQUIRED', ...asked, ...(isPasskey && { method: 'passkey' }) };
  }
  if (factor.method === 'totp') {
    const totp = deps.mfa.totpSetup(factor, caller.project.name, addressOf(user) ?? user.userName);
    return { status: 'MFA_INITIATED', ...asked, ...(totp && { totp }) };
  }
  const { format: _, ...sent } = await sentCode(place, purposeOf(factor));
  const to = destinationOf(place, user, factor) ?? '';
  const sentTo = factor.method === 'sms' ? maskPhone(to) : maskAddress(to);
  return { status: 'MFA_INITIATED', ...asked, sent: { ...sent, sentTo } };
}

async function sentCode({ em, deps, caller, ceremony }: Place, purpose: CodePurpose) {
  const issued = await deps.otp.issued(em, { projectId: caller.project.id, ceremonyId: ceremony.id, purpose });
  // Deleted some time after it expired.
  if (!issued) return { sentAt: seconds(ceremony.createdAt), resendAfterSeconds: 0, format: 'short' } as const;
  const sentAt = seconds(issued.at);
  const waited = seconds(deps.clock.now()) - sentAt;
  return { sentAt, resendAfterSeconds: Math.max(0, resendAfterSeconds - waited), format: issued.format };
}
