import { challengeOf, credentialIdOf, formerHandleOf, userHandleOf } from '../../credentials/passkey-values.ts';
import { checkAssertion } from '../../credentials/webauthn.ts';
import { digest } from '../../kernel/secret.ts';
import { query, type Statement, sql } from '../../kernel/sql.ts';
import type { SigninCaller } from '../callers.ts';
import { lacksPkce } from '../code-challenge.ts';
import type { FlowDeps, StepInput } from '../flow.ts';
import { mayUsePasskeys, siteOfPage } from '../sign-in-context.ts';
import type { EndingRow } from './begun-devices.ts';
import {
  type Ending,
  endIfUnchanged,
  endingFacts,
  endsPlainly,
  isPassed,
  isUnproved,
  passed,
  type SigninPage,
} from './ending.ts';
import { type Success, steps } from './steps.ts';

const { from } = steps['verify-passkey'];

/** A sign-in, the passkey of a response, and the passkey's user. */
interface PasskeyFacts extends EndingRow {
  public_key: string;
  cose_alg: number;
  /** A bigint, as text. */
  sign_count: string;
  backup_eligible: boolean;
  subject: string | null;
}

/** The sign-in, the challenge and the passkey that a response names, in base64url. */
interface PasskeyRequest {
  txn: string;
  challenge: string;
  credentialId: string;
  /** The custom domain of the page; null: the base host. */
  domain: string | null;
  now: Date;
}

/** Each row is found by one key (decisions/0087). */
export function passkeyFactsStatement(page: SigninPage, request: PasskeyRequest): Statement<PasskeyFacts> {
  const { txn, challenge, credentialId, domain, now } = request;
  const projectId = sql`${page.project.id}::uuid`;
  return sql<PasskeyFacts>`with begun as materialized (
      select * from ceremonies where project_id = ${projectId} and txn_hash = ${digest(txn)}
    ), known as materialized (
      select * from credentials where project_id = ${projectId} and credential_id = ${credentialId}
    )
    select ${endingFacts(page)}, k.id as credential_id, k.public_key, k.cose_alg, k.sign_count, k.backup_eligible, u.subject
    from begun c, known k, lateral (select id, subject, user_name, active from users
        where project_id = ${projectId} and id = k.user_id offset 0) u
    where ${isUnproved(page)} and c.state = any(${from}) and c.expires_at > ${now} and c.step_up is null
      and c.passkey_challenge_hash = ${digest(challenge)} and c.passkey_purpose = 'sign-in'
      and k.revoked_at is null and k.domain is not distinct from ${domain}::text and k.user_verified and u.active`;
}

/**
 * `verify-passkey` in one read and one write: by PIN or biometrics and without earlier evidence. The passkey proves the person and
 * counts as both factors, so no policy requires more. It must have verified its user before: the first verification may
 * end recovery codes. Null: the step decides in its transaction, and uses up the challenge (decisions/0085).
 */
export async function byVerifiedPasskey(
  deps: FlowDeps,
  caller: SigninCaller,
  { txn, credential }: StepInput,
  nextNonce: string,
): Promise<Success | null> {
  if (!mayUsePasskeys({ deps, caller })) return null;
  const [challenge, credentialId] = [challengeOf(credential), credentialIdOf(credential)];
  if (challenge === null || credentialId === null) return null;
  const { domain, hostname } = siteOfPage({ deps, caller });
  const request = { txn, challenge, credentialId, domain, now: deps.clock.now() };
  const statement = passkeyFactsStatement(caller, request);
  const [facts] = await query(deps.db.alone, statement, { prepare: 'verified-passkey.facts' });
  if (!facts || !endsPlainly(caller, facts, request.now) || lacksPkce(caller, facts.code_challenge)) return null;
  const signCount = Number(facts.sign_count);
  const { public_key: publicKey, cose_alg: alg, backup_eligible: backupEligible } = facts;
  const userHandle = userHandleOf(facts.user_id);
  const formerHandle = formerHandleOf(facts.subject);
  const stored = { credentialId, publicKey, alg, signCount, backupEligible, userHandle, formerHandle };
  const verdict = checkAssertion(credential, stored, {
    challenge,
    origins: [caller.origin],
    rpId: hostname,
    userVerification: 'required',
    userHandleRequired: true,
  });
  if (!verdict.valid || (verdict.counterRegressed && !backupEligible)) return null;
  return endIfUnchanged(deps, caller, ending(deps, caller, request, facts, verdict), nextNonce);
}

/** Requires the user, the passkey and the sign-in as they were read. */
function ending(
  deps: FlowDeps,
  caller: SigninCaller,
  { challenge, domain, now }: PasskeyRequest,
  facts: PasskeyFacts,
  verdict: Parameters<FlowDeps['passkeys']['notedUse']>[1],
): Ending {
  const { project } = caller;
  return {
    label: 'verified-passkey.end',
    facts,
    piece: {
      kind: 'passkey',
      account: facts.user_id,
      at: now.toISOString(),
      credential: facts.credential_id,
      verified: true,
      synced: facts.backup_eligible,
    },
    credential: sql`select k.id, k.user_id
      from users u join credentials k on k.project_id = ${project.id}::uuid and k.user_id = u.id
      where u.project_id = ${project.id}::uuid and u.id = ${facts.user_id} and u.active
        and k.id = ${facts.credential_id} and k.revoked_at is null and k.domain is not distinct from ${domain}::text
        and k.user_verified and k.sign_count = ${Number(facts.sign_count)}
      for no key update of u, k`,
    allowed: sql`c.state = any(${from}) and c.expires_at > ${now} and c.step_up is null
        and c.passkey_challenge_hash = ${digest(challenge)} and c.passkey_purpose = 'sign-in'`,
    columns: sql`passkey_challenge_hash = null`,
    writes: {
      used: deps.passkeys.notedUse({ project, id: passed.credential }, verdict),
      ...deps.guessing.remembered({ project, id: facts.user_id }, caller.actor.ip, isPassed),
    },
  };
}
