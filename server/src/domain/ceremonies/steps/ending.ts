import { hasAccessTo } from '../../access/has-access.ts';
import { currentClient } from '../../clients/client-registry.ts';
import type { CredentialKind } from '../../credentials/credential.entity.ts';
import { secondsLater } from '../../kernel/clock.ts';
import { pastDeadlocks } from '../../kernel/database.ts';
import { newSecret } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import { execute, type Fragment, sql } from '../../kernel/sql.ts';
import type { Evidence } from '../../policy/evidence.ts';
import { type HeldRow, isHeldLive, type SignIn, timesOfHeld } from '../../sessions/sessions.ts';
import { insertedCode } from '../../tokens/new-code.ts';
import { sdkScope } from '../../tokens/scope.ts';
import { notedSignIn } from '../../users/user-writing.ts';
import { inSignIn, type SigninCaller } from '../callers.ts';
import { nonceTtlSeconds } from '../ceremony.entity.ts';
import type { FlowDeps } from '../flow.ts';
import type { EndingRow } from './begun-devices.ts';
import { type Conclusion, concluded, type SignedIn, sessionOf, signInEvent } from './conclusion.ts';
import type { Success } from './steps.ts';

/** SQL: the columns of {@link EndingRow}, of sign-in `c` and user `u`; the credential is the caller's to add. */
export function endingFacts({ project, sessionSecret }: SigninPage): Fragment {
  return sql`c.id, c.nonce_hash, c.code_challenge, u.id as user_id, u.user_name, ${timesOfHeld(project.id, sessionSecret)}`;
}

/** The page of a step, as far as its facts depend on it. */
export type SigninPage = Pick<
  SigninCaller,
  'project' | 'client' | 'request' | 'organization' | 'excused' | 'origin' | 'sessionSecret'
>;

/** SQL condition: sign-in `c` is this page's, and has proved nothing yet. */
export function isUnproved({ client, request, origin }: SigninPage): Fragment {
  return sql`c.client_id = ${client.id}::uuid and c.request_id is not distinct from ${request?.id ?? null}::uuid
      and c.origin = ${origin} and c.finished_at is null and c.evidence = '[]'`;
}

/**
 * Whether a sign-in ends with no more than a code or a new session: the request asks for nothing after it, and the browser
 * has no session that is to be renewed or replaced, and no connection is required.
 */
export function endsPlainly(
  { excused, organization, project, request }: SigninPage,
  facts: HeldRow,
  now: Date,
): boolean {
  if (organization?.connectionOf || excused?.failed != null) return false;
  const isOfLink = request?.setupLinkId != null || request?.connectingId != null;
  const asksForMore = isOfLink || request?.addsPasskey || request?.addsAuthenticator;
  return !asksForMore && !isHeldLive(facts, project, now);
}

/** A verdict on facts: this piece of evidence is all that the sign-in requires. */
export interface Ending {
  /** The name of the prepared statement. */
  label: string;
  facts: EndingRow;
  piece: Evidence & { kind: CredentialKind };
  /**
   * SQL: selects `project_id`, `user_id` and `id` of the credential if user and credential are as they were read, and locks
   * them in this order.
   */
  credential: Fragment;
  /** SQL condition on the sign-in `c` and the credential `t`, in addition to those of every sign-in. */
  allowed: Fragment;
  /** SQL: further columns of the sign-in. */
  columns: Fragment;
  /** SQL: statements that write only where {@link isPassed}, by name. */
  writes: Readonly<Record<string, Fragment>>;
}

/** SQL condition: the sign-in has ended. */
export const isPassed = sql`exists (select 1 from passed)`;
/** SQL: the user and the credential of the sign-in that has ended; null: none. */
export const passed = { user: sql`(select user_id from passed)`, credential: sql`(select credential_id from passed)` };

/**
 * Ends a sign-in by one statement, while all facts stand. It locks the user, then the credential, then the sign-in, in the
 * order of a deactivation. So one sign-in yields at most one code or session, and none once its user is deactivated or its
 * credential revoked. Factors, key, client and project are read in the snapshot of the statement's start, even if it then
 * waits for a lock. Null, with nothing written, if a fact has changed.
 *
 * @param nextNonce replaces the sign-in's nonce
 */
export async function endIfUnchanged(
  deps: FlowDeps,
  caller: SigninCaller,
  { allowed, columns, credential, facts, label, piece, ...ending }: Ending,
  nextNonce: string,
): Promise<Success | null> {
  const { db, clock, audit } = deps;
  const { project, client, request } = caller;
  const now = clock.now();
  const conclusion = concluded([piece]);
  const signedIn: SignedIn = {
    user: { id: facts.user_id, userName: facts.user_name },
    credential: { kind: piece.kind, id: facts.credential_id },
  };
  const event = signInEvent(inSignIn(caller, facts.id), signedIn, conclusion);
  const writes = Object.entries(ending.writes).map(([name, write]) => sql`${sql.raw(name)} as (${write}),`);
  const { given, insertion } = request
    ? newSession(deps, caller, sessionOf(deps, caller, signedIn, conclusion))
    : newCode(deps, caller, conclusion);
  // The hosted page also serves users without access: `/authorize` refuses them.
  const mayEnter = request ? sql`true` : hasAccessTo(client, sql`t.user_id`, null);
  const statement = sql`with proved as (
      ${credential}
    ), passed as (
      update ceremonies c set state = 'finished', finished_at = ${now}, evidence = ${JSON.stringify([piece])}::jsonb, address = null,
        nonce_hash = ${digest(nextNonce)}, nonce_expires_at = ${secondsLater(now, nonceTtlSeconds)}, ${columns}
      from proved t
      where c.project_id = ${project.id}::uuid and c.id = ${facts.id} and ${isUnproved(caller)}
        and c.nonce_hash = ${facts.nonce_hash} and ${allowed} and exists (${currentClient(caller)}) and ${mayEnter}
      returning c.client_id, t.user_id, t.id as credential_id, c.code_challenge
    ), seen as (
      ${notedSignIn({ project, id: passed.user }, now)}
    ), ${sql.join(writes, sql` `)} audited as (
      ${audit.insertion(event, isPassed)}
    )
    ${insertion}`;
  const written = await pastDeadlocks(() => execute(db.alone, statement, { prepare: label }));
  return written === 1 ? { status: 'SUCCESS', ...given } : null;
}

/** For an application's page: a code without redirect_uri, bound to the page's code_challenge, if any. */
function newCode({ clock, random }: FlowDeps, { client, project }: SigninCaller, { amr, authTime }: Conclusion) {
  const code = newSecret(random);
  const columns = {
    projectId: project.id,
    clientId: sql`client_id`,
    userId: sql`user_id`,
    codeChallenge: sql`code_challenge`,
    scope: sdkScope,
    authTime,
    amr,
  };
  const made = { id: random.id(), client, hash: digest(code), now: clock.now() };
  const insertion = insertedCode(made, columns, sql`from passed`);
  return { given: { code }, insertion };
}

/** For the hosted page. */
function newSession({ sessions }: FlowDeps, { project }: SigninCaller, signIn: SignIn) {
  const { secret, insertion } = sessions.begin(signIn, isPassed);
  return { given: { sessionSecret: secret, projectId: project.id }, insertion };
}
