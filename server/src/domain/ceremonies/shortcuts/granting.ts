import { hasAccessTo } from '../../access/has-access.ts';
import { currentClient } from '../../clients/client-registry.ts';
import { secondsLater } from '../../kernel/clock.ts';
import { pastDeadlocks } from '../../kernel/database.ts';
import { newSecret } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import { execute, type Fragment, sql } from '../../kernel/sql.ts';
import { amrOf, type Evidence } from '../../policy/evidence.ts';
import { sdkScope } from '../../tokens/claims.ts';
import { insertedCode } from '../../tokens/new-code.ts';
import { notedSignIn } from '../../users/user-writing.ts';
import type { SigninCaller } from '../callers.ts';
import type { FlowDeps } from '../flow.ts';
import type { Success } from '../steps/steps.ts';

/** Lifetime of a nonce. */
export const nonceTtlSeconds = 120;

/** The sign-in's row, with every column that the decision used. */
export interface Candidate {
  /** The ID of the sign-in. */
  id: string;
  nonce_hash: string;
  code_challenge: string | null;
  credential_id: string;
  user_id: string;
  user_name: string;
}

/** A sign-in that a shortcut grants by one piece of evidence. */
export interface Grant {
  /** The name of the prepared statement. */
  label: string;
  candidate: Candidate;
  piece: Evidence;
  /** Replaces the sign-in's nonce. */
  nextNonce: string;
  /**
   * SQL: selects `project_id`, `user_id` and `id` of the credential if user and credential allow the sign-in, and locks them
   * in this order.
   */
  credential: Fragment;
  /** SQL condition on the sign-in `c` and the credential `t`, in addition to those of every sign-in. */
  allowed: Fragment;
  /** SQL: further columns of the sign-in. */
  columns: Fragment;
  /** SQL: statements that write only where {@link isPassed}, by name. */
  writes: Readonly<Record<string, Fragment>>;
  /** The detail of the event. */
  detail: Record<string, unknown>;
}

/** SQL condition: the sign-in has ended. */
export const isPassed = sql`exists (select from passed)`;
/** SQL: the user and the credential of the sign-in that has ended; null: none. */
export const passed = { user: sql`(select user_id from passed)`, credential: sql`(select credential_id from passed)` };

/**
 * Ends a sign-in of an application's page: one statement, which repeats every condition of the reading one. It locks the
 * user, then the credential, then the sign-in, in the order of a deactivation. So one sign-in yields at most one code, and
 * none once its user is deactivated or its credential revoked. Factors, key, client and project are read in the snapshot of
 * the statement's start, even if it then waits for a lock. Null, with nothing written, if a condition fails.
 */
export async function granted(deps: FlowDeps, caller: SigninCaller, grant: Grant): Promise<Success | null> {
  const { db, clock, random, audit } = deps;
  const { project, client, actor } = caller;
  const { candidate, piece } = grant;
  const now = clock.now();
  const code = newSecret(random);
  const amr = amrOf([piece]);
  const event = audit.insertion(
    {
      type: 'user.signed_in',
      actor: { ...actor, signInId: candidate.id },
      projectId: project.id,
      clientId: client.id,
      subject: { kind: 'user', id: candidate.user_id, name: candidate.user_name },
      detail: { amr, ...grant.detail },
    },
    isPassed,
  );
  const columns = {
    projectId: project.id,
    clientId: sql`client_id`,
    userId: sql`user_id`,
    codeChallenge: sql`code_challenge`,
    scope: sdkScope,
    authTime: now,
    amr,
  };
  const writes = Object.entries(grant.writes).map(([name, write]) => sql`${sql.raw(name)} as (${write}),`);
  const statement = sql`with proved as (
      ${grant.credential}
    ), passed as (
      update ceremonies c set state = 'finished', finished_at = ${now}, evidence = ${JSON.stringify([piece])}::jsonb,
        nonce_hash = ${digest(grant.nextNonce)}, nonce_expires_at = ${secondsLater(now, nonceTtlSeconds)}, ${grant.columns}
      from proved t
      where c.project_id = ${project.id} and c.id = ${candidate.id} and c.client_id = ${client.id} and c.finished_at is null
        and c.nonce_hash = ${candidate.nonce_hash} and ${grant.allowed}
        and exists (${currentClient(caller)}) and ${hasAccessTo(client, sql`t.user_id`)}
      returning c.client_id, t.user_id, t.id as credential_id, c.code_challenge
    ), seen as (
      ${notedSignIn({ project, id: passed.user }, now)}
    ), ${sql.join(writes, sql` `)} audited as (
      ${event}
    )
    ${insertedCode({ random, hash: digest(code), now }, columns, sql`from passed`)}`;
  const given = await pastDeadlocks(() => execute(db.alone, statement, { prepare: grant.label }));
  return given === 1 ? { status: 'SUCCESS', code } : null;
}
