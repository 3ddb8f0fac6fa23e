import { challengeOf, credentialIdOf, userHandleOf } from '../../credentials/passkey-values.ts';
import { checkAssertion } from '../../credentials/webauthn.ts';
import { digest } from '../../kernel/secret.ts';
import { query, type Statement, sql } from '../../kernel/sql.ts';
import type { SigninCaller } from '../callers.ts';
import type { FlowDeps, StepInput } from '../flow.ts';
import { mayUsePasskeys, siteOfPage } from '../sign-in-context.ts';
import { type Success, steps } from '../steps/steps.ts';
import { type Candidate, granted, isPassed, passed } from './granting.ts';

const { from } = steps['verify-passkey'];

/** The row for verifying the response; returned only if every check except the response has passed. */
interface PasskeyCandidate extends Candidate {
  public_key: string;
  cose_alg: number;
  /** A bigint, as text. */
  sign_count: string;
  backup_eligible: boolean;
}

/** The sign-in, the challenge and the passkey that a response names, in base64url. */
interface PasskeyRequest {
  txn: string;
  challenge: string;
  credentialId: string;
  now: Date;
}

/** Each row is found by one key (decisions/0087). */
export function passkeyCandidateStatement(
  { project, client, origin }: Pick<SigninCaller, 'project' | 'client' | 'origin'>,
  { txn, challenge, credentialId, now }: PasskeyRequest,
): Statement<PasskeyCandidate> {
  return sql<PasskeyCandidate>`with begun as materialized (
      select * from ceremonies where project_id = ${project.id} and txn_hash = ${digest(txn)}
    ), known as materialized (
      select * from credentials where project_id = ${project.id} and credential_id = ${credentialId}
    )
    select c.id, c.code_challenge, c.nonce_hash, k.id as credential_id, k.public_key, k.cose_alg, k.sign_count, k.backup_eligible,
      u.id as user_id, u.user_name
    from begun c, known k, lateral (select id, user_name, active from users
        where project_id = ${project.id} and id = k.user_id offset 0) u
    where c.client_id = ${client.id} and c.request_id is null and c.origin = ${origin}
      and c.state = any(${from}) and c.finished_at is null and c.expires_at > ${now}
      and c.evidence = '[]' and c.step_up is null
      and c.passkey_challenge_hash = ${digest(challenge)} and c.passkey_purpose = 'sign-in'
      and k.revoked_at is null and k.domain is null and k.user_verified and u.active`;
}

/**
 * `verify-passkey` from an application's page, by PIN or biometrics and without earlier evidence: the passkey proves
 * the person and counts as both factors, so no policy requires more. The passkey must have verified its user before:
 * the first verification may end recovery codes. One statement reads, one grants. Returns the code; in every other case
 * null, with nothing written: the table of steps then decides, and uses up the challenge (decisions/0132).
 */
export async function passkeySignIn(
  deps: FlowDeps,
  caller: SigninCaller,
  { txn, credential }: StepInput,
  nextNonce: string,
): Promise<Success | null> {
  const { project, client, origin } = caller;
  if (!mayUsePasskeys({ deps, caller }) || project.builtIn === 'console') return null;
  const [challenge, credentialId] = [challengeOf(credential), credentialIdOf(credential)];
  if (challenge === null || credentialId === null) return null;
  const now = deps.clock.now();
  const reading = passkeyCandidateStatement(caller, { txn, challenge, credentialId, now });
  const [candidate] = await query(deps.db.alone, reading, { prepare: 'passkey-sign-in.candidate' });
  if (!candidate || (client.pkceRequired && candidate.code_challenge === null)) return null;
  const signCount = Number(candidate.sign_count);
  const { public_key: publicKey, cose_alg: alg, backup_eligible: backupEligible } = candidate;
  const userHandle = userHandleOf(candidate.user_id);
  const stored = { credentialId, publicKey, alg, signCount, backupEligible, userHandle };
  const verdict = checkAssertion(credential, stored, {
    challenge,
    origins: [origin],
    rpId: siteOfPage({ deps, caller }).hostname,
    userVerification: 'required',
    userHandleRequired: true,
  });
  if (!verdict.valid || (verdict.counterRegressed && !backupEligible)) return null;
  const noted = deps.guessing.remembered({ project, id: candidate.user_id }, caller.actor.ip, isPassed);
  return granted(deps, caller, {
    label: 'passkey-sign-in.grant',
    candidate,
    nextNonce,
    piece: {
      kind: 'passkey',
      account: candidate.user_id,
      at: now.toISOString(),
      credential: candidate.credential_id,
      verified: true,
      synced: backupEligible,
    },
    credential: sql`select k.id, k.user_id
      from users u join credentials k on k.project_id = u.project_id and k.user_id = u.id
      where u.project_id = ${project.id} and u.id = ${candidate.user_id} and u.active
        and k.id = ${candidate.credential_id} and k.revoked_at is null and k.domain is null and k.user_verified
        and k.sign_count = ${signCount}
      for no key update of u, k`,
    allowed: sql`c.state = any(${from}) and c.expires_at > ${now} and c.evidence = '[]' and c.step_up is null
        and c.passkey_challenge_hash = ${digest(challenge)} and c.passkey_purpose = 'sign-in'`,
    columns: sql`address = null, passkey_challenge_hash = null`,
    writes: {
      used: deps.passkeys.notedUse({ project, id: passed.credential }, verdict),
      ...noted,
    },
    detail: { passkeyId: candidate.credential_id },
  });
}
