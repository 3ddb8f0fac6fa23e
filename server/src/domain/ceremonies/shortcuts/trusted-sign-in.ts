import type { JWK } from 'jose';
import { notedUse } from '../../credentials/devices.ts';
import { checkProof } from '../../credentials/proof.ts';
import { seconds, secondsLater } from '../../kernel/clock.ts';
import { digest, isStorableText } from '../../kernel/secret.ts';
import { type Fragment, query, type Statement, sql } from '../../kernel/sql.ts';
import { trustAfterUse } from '../../policy/device-trust.ts';
import type { Project } from '../../projects/project.entity.ts';
import { addressKey, isAddress, trimmed } from '../../users/login.ts';
import type { SigninCaller } from '../callers.ts';
import type { FlowDeps, StepInput } from '../flow.ts';
import { isPasskeyRequired } from '../sign-in-context.ts';
import { type Success, steps } from '../steps/steps.ts';
import { type Candidate, granted, passed } from './granting.ts';

const { from } = steps.authenticate;

/** SQL condition: the current policy trusts the device `d` (`credentials/trust.ts`). */
function trustedAt({ deviceTrustSeconds, deviceTrustDays }: Project, now: Date): Fragment {
  return sql`d.suspended_at is null and d.trusted_until > ${now}
      and (not d.remembered or d.last_used_at > ${secondsLater(now, -1 * deviceTrustSeconds)})
      and coalesce(d.registered_at, d.created_at) > ${secondsLater(now, -24 * 3600 * deviceTrustDays)}`;
}

/** The row for verifying the proof; returned only if every check except the proof has passed. */
interface DeviceCandidate extends Candidate {
  jkt: string;
  public_jwk: JWK;
  alg: string;
  remembered: boolean;
}

/**
 * The work is the same for every address: the device is found by its key. Each row is found by one key, and no other
 * index matches any condition, so a plan created while the tables were small stays good (decisions/0087).
 */
export function candidateStatement(
  { project, client, origin }: Pick<SigninCaller, 'project' | 'client' | 'origin'>,
  request: TrustedRequest,
): Statement<DeviceCandidate> {
  const { txn, addressKey: key, now } = request;
  return sql<DeviceCandidate>`with begun as materialized (
      select * from ceremonies where project_id = ${project.id} and txn_hash = ${digest(txn)}
    ), known as materialized (
      select d.* from begun, credentials d where d.project_id = ${project.id} and d.jkt = begun.jkt
    )
    select c.id, c.jkt, c.code_challenge, c.nonce_hash, d.id as credential_id, d.public_jwk, d.alg, d.remembered,
      u.id as user_id, u.user_name
    from begun c join known d on d.client_id = c.client_id,
      lateral (select id, user_name, active, email_key, user_name_key from users
        where project_id = ${project.id} and id = d.user_id offset 0) u
    where c.client_id = ${client.id} and c.request_id is null and c.origin = ${origin}
      and c.state = any(${from}) and c.finished_at is null and c.evidence = '[]'
      and least(c.expires_at, c.nonce_expires_at) > ${now}
      and d.revoked_at is null and d.hosted is not true and d.domain is null and ${trustedAt(project, now)} and u.active
      and (u.email_key = ${key} or u.user_name_key = ${key}
        and not exists (select from users other where other.project_id = ${project.id} and other.email_key = ${key}))
      and (select e.id from enrolments e where e.project_id = ${project.id} and e.user_id = d.user_id limit 1) is null`;
}

/** The sign-in and the address, normalized by {@link addressKey}, that a step names. */
interface TrustedRequest {
  txn: string;
  addressKey: string;
  now: Date;
}

/**
 * `authenticate` from an application's page, with a trusted device, for a user without second factors and without
 * earlier evidence in this sign-in. One statement reads, one grants. Returns the code; in every other case null, with
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
  if (project.mfaPolicy === 'required' || isPasskeyRequired(caller) || project.builtIn === 'console') return null;
  const key = addressKey(address);
  const now = clock.now();
  const reading = candidateStatement(caller, { txn: input.txn, addressKey: key, now });
  const [candidate] = await query(db.alone, reading, { prepare: 'trusted-sign-in.candidate' });
  if (!candidate || (client.pkceRequired && candidate.code_challenge === null)) return null;
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

/** Requires the user, the device and the sign-in as the reading statement found them. */
function grant(
  deps: FlowDeps,
  caller: SigninCaller,
  input: StepInput,
  { candidate, address, nextNonce }: { candidate: DeviceCandidate; address: string; nextNonce: string },
): Promise<Success | null> {
  const { clock } = deps;
  const { project } = caller;
  const now = clock.now();
  const trustedUntil = trustAfterUse(candidate, project, now);
  return granted(deps, caller, {
    label: 'trusted-sign-in.grant',
    candidate,
    nextNonce,
    piece: {
      kind: 'device-key',
      account: candidate.user_id,
      device: candidate.credential_id,
      at: now.toISOString(),
    },
    credential: sql`select d.id, d.user_id, d.client_id, d.jkt
      from users u join credentials d on d.project_id = u.project_id and d.user_id = u.id
      where u.project_id = ${project.id} and u.id = ${candidate.user_id} and u.active and (u.email_key = ${address} or u.user_name_key = ${address})
        and d.id = ${candidate.credential_id} and d.revoked_at is null and d.hosted is not true and d.domain is null and ${trustedAt(project, now)}
        and d.remembered = ${candidate.remembered}
        and not exists (select from enrolments e where e.project_id = u.project_id and e.user_id = u.id)
      for no key update of u, d`,
    allowed: sql`c.client_id = t.client_id and c.jkt = t.jkt and c.state = any(${from}) and c.evidence = '[]'
        and least(c.expires_at, c.nonce_expires_at) > ${now}`,
    columns: sql`address = null, remember_device = ${input.rememberDevice ?? true}, step_up = null, mfa_method = null,
        mfa_session_hash = null, enrolment_id = null`,
    writes: { used: notedUse({ project, id: passed.credential }, { lastUsedAt: now, trustedUntil }) },
    detail: { deviceId: candidate.credential_id },
  });
}
