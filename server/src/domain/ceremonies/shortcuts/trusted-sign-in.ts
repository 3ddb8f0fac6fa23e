import type { JWK } from 'jose';
import { type DeviceRow, deviceColumns, isDeviceUnchanged, toTrustState } from '../../credentials/device-facts.ts';
import { notedUse } from '../../credentials/devices.ts';
import { checkProof } from '../../credentials/proof.ts';
import { seconds } from '../../kernel/clock.ts';
import { digest, isStorableText } from '../../kernel/secret.ts';
import { type Fragment, query, type Statement, sql } from '../../kernel/sql.ts';
import { isTrusted, skipsFactor, trustAfterUse } from '../../policy/device-trust.ts';
import type { Evidence } from '../../policy/evidence.ts';
import { nextRequirement } from '../../policy/requirements.ts';
import { asksForFacts } from '../../policy/session.ts';
import type { Project } from '../../projects/project.entity.ts';
import { factorsOf, type UserFactsRow } from '../../sessions/user-facts.ts';
import { addressKey, isAddress, trimmed } from '../../users/login.ts';
import type { SigninCaller } from '../callers.ts';
import type { FlowDeps, StepInput } from '../flow.ts';
import { type Success, steps } from '../steps/steps.ts';
import { type Candidate, granted, passed } from './granting.ts';

const { from } = steps.authenticate;

/** The facts of a sign-in by the key of a device. */
interface DeviceFacts extends Candidate, DeviceRow, Pick<UserFactsRow, 'factors'> {
  jkt: string;
  public_jwk: JWK;
  alg: string;
  has_pending: boolean;
}

/** SQL: whether user `u` has a factor that is not verified: the sign-in that started it may continue in this one. */
function hasPending(projectId: string): Fragment {
  return sql`exists (select 1 from enrolments e where e.project_id = ${projectId}::uuid and e.user_id = u.id and e.verified_at is null)`;
}

/**
 * The work is the same for every address: the device is found by its key. Each row is found by one key, and no other
 * index matches any condition, so a plan created while the tables were small stays good (decisions/0087).
 */
export function candidateStatement(
  { project, client, origin }: Pick<SigninCaller, 'project' | 'client' | 'origin'>,
  request: TrustedRequest,
): Statement<DeviceFacts> {
  const { txn, addressKey: key, now } = request;
  return sql<DeviceFacts>`with begun as materialized (
      select * from ceremonies where project_id = ${project.id} and txn_hash = ${digest(txn)}
    ), known as materialized (
      select d.* from begun, credentials d where d.project_id = ${project.id} and d.jkt = begun.jkt
    )
    select c.id, c.jkt, c.code_challenge, c.nonce_hash, d.id as credential_id, d.public_jwk, d.alg,
      ${deviceColumns}, u.id as user_id, u.user_name, ${factorsOf(project.id, sql`u.id`)} as factors,
      ${hasPending(project.id)} as has_pending
    from begun c join known d on d.client_id = c.client_id,
      lateral (select id, user_name, active, email_key, user_name_key from users
        where project_id = ${project.id} and id = d.user_id offset 0) u
    where c.client_id = ${client.id} and c.request_id is null and c.origin = ${origin}
      and c.state = any(${from}) and c.finished_at is null and c.evidence = '[]'
      and least(c.expires_at, c.nonce_expires_at) > ${now}
      and d.revoked_at is null and d.hosted is not true and d.domain is null and u.active
      and (u.email_key = ${key} or u.user_name_key = ${key}
        and not exists (select 1 from users other where other.project_id = ${project.id} and other.email_key = ${key}))`;
}

/** The sign-in and the address, normalized by {@link addressKey}, that a step names. */
interface TrustedRequest {
  txn: string;
  addressKey: string;
  now: Date;
}

/**
 * `authenticate` from an application's page, with a trusted device that nothing else is owed of, without earlier evidence in
 * this sign-in. One statement reads the facts, one grants while they stand. Returns the code; in every other case null, with
 * nothing written: the table of steps then decides (decisions/0085).
 */
export async function trustedSignIn(
  deps: FlowDeps,
  caller: SigninCaller,
  input: StepInput,
  nextNonce: string,
): Promise<Success | null> {
  const { db, clock } = deps;
  const { project, client, origin } = caller;
  const address = trimmed(input.userid ?? '');
  if (input.proof === undefined || input.stepUp || !isStorableText(address) || !isAddress(address)) return null;
  // Their rules ask for the user's passkeys.
  if (asksForFacts(project) || client.passkeyRequired) return null;
  const key = addressKey(address);
  const now = clock.now();
  const reading = candidateStatement(caller, { txn: input.txn, addressKey: key, now });
  const [candidate] = await query(db.alone, reading, { prepare: 'trusted-sign-in.candidate' });
  if (!candidate || !isEnough(candidate, project, now) || (client.pkceRequired && candidate.code_challenge === null))
    return null;
  const verdict = await checkProof(input.proof, {
    key: { kind: 'stored', jkt: candidate.jkt, jwk: candidate.public_jwk, alg: candidate.alg },
    act: 'authenticate',
    issuer: deps.issuer,
    projectId: project.id,
    clientId: client.id,
    origin,
    originAllowed: true,
    txn: input.txn,
    stateAllows: true,
    codeChallenge: candidate.code_challenge,
    jkt: candidate.jkt,
    body: input.body,
    // Only compared here: the granting statement consumes it.
    consumeNonce: async (nonce) => digest(nonce) === candidate.nonce_hash,
    nowSeconds: seconds(now),
  });
  return verdict.valid ? grant(deps, caller, input, { candidate, address: key, nextNonce }) : null;
}

/** Whether the device is trusted, and its key is all that the sign-in requires. A pending factor may be required, too. */
function isEnough(facts: DeviceFacts, project: Project, now: Date): boolean {
  const device = toTrustState(facts);
  const context = {
    ...{ policy: project.mfaPolicy, emailFactor: project.emailFactor, factors: facts.factors },
    ...{ hasPasskey: false, passkeyRequired: false, needsPasskey: false, personRequired: false, changesAccount: false },
    skipsFactor: skipsFactor(device, project, now),
  };
  if (facts.has_pending || !isTrusted(device, project, now)) return false;
  return nextRequirement([pieceOf(facts, now)], context) === 'nothing';
}

function pieceOf({ user_id: account, credential_id: device }: DeviceFacts, now: Date): Evidence {
  return { kind: 'device-key', account, device, at: now.toISOString() };
}

/** Requires the user, their factors, the device and the sign-in as the reading statement found them. */
function grant(
  deps: FlowDeps,
  caller: SigninCaller,
  input: StepInput,
  { candidate, address, nextNonce }: { candidate: DeviceFacts; address: string; nextNonce: string },
): Promise<Success | null> {
  const { clock } = deps;
  const { project } = caller;
  const now = clock.now();
  const trustedUntil = trustAfterUse(candidate, project, now);
  return granted(deps, caller, {
    label: 'trusted-sign-in.grant',
    candidate,
    nextNonce,
    piece: pieceOf(candidate, now),
    credential: sql`select d.id, d.user_id, d.client_id, d.jkt
      from users u join credentials d on d.project_id = u.project_id and d.user_id = u.id
      where u.project_id = ${project.id} and u.id = ${candidate.user_id} and u.active and (u.email_key = ${address} or u.user_name_key = ${address})
        and d.id = ${candidate.credential_id} and d.revoked_at is null and d.hosted is not true and d.domain is null
        and ${isDeviceUnchanged(candidate)} and ${factorsOf(project.id, sql`u.id`)} = ${candidate.factors}::text[] and not ${hasPending(project.id)}
      for no key update of u, d`,
    allowed: sql`c.client_id = t.client_id and c.jkt = t.jkt and c.state = any(${from}) and c.evidence = '[]'
        and least(c.expires_at, c.nonce_expires_at) > ${now}`,
    columns: sql`address = null, remember_device = ${input.rememberDevice ?? true}, step_up = null, mfa_method = null,
        mfa_session_hash = null, enrolment_id = null`,
    writes: { used: notedUse({ project, id: passed.credential }, { lastUsedAt: now, trustedUntil }) },
    detail: { deviceId: candidate.credential_id },
  });
}
