import { hasAccessTo } from '../access/has-access.ts';
import { choicesColumn, type MemberChoice } from '../access/member-choices.ts';
import { type CheckedClient, currentClient } from '../clients/client-registry.ts';
import { isAllowedTo } from '../consents/consents.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { query, type Statement, sql } from '../kernel/sql.ts';
import { isPolicyUnchanged, usedMembership } from '../organizations/organization-policy.ts';
import { type AcrRequest, lacksAcr, metAcr } from '../policy/acr.ts';
import { isWithinMaxAge } from '../policy/freshness.ts';
import { hasExpiredIn, strictest } from '../policy/organization.ts';
import {
  asksForFacts,
  hasExpired,
  meetsClientPolicy,
  meetsSignInPolicy,
  recordedUse,
  type SessionUse,
} from '../policy/session.ts';
import type { Project } from '../projects/project.entity.ts';
import { usedIfUnchanged } from '../sessions/sessions.ts';
import { areUnchanged, toUserFacts, type UserFactsRow, userFacts } from '../sessions/user-facts.ts';
import { addressKeys, userNameKey } from '../users/login.ts';
import { type Grantee, granteeOf, isGranteeUnchanged, userColumns } from './grants/grant.ts';
import { type FoundCode, type HeldFacts, heldKey, type SessionCodeFacts } from './held-facts.ts';
import { codeExpiry, insertedCode, type NewCode } from './new-code.ts';

/** A request for a code under a live session. */
export interface SessionCode extends CheckedClient {
  /** See `storedIssuer`. */
  issuer: string | null;
  /** SHA-256 of the session cookie's secret, or `impersonationHash`. */
  sessionHash: string;
  /** An admin has proved themselves, not the user: policies of sign-ins do not apply. */
  isImpersonated?: boolean;
  redirectUri: string;
  /** Absent: the client may omit PKCE. */
  codeChallenge: string | undefined;
  /** Thumbprint of the DPoP key that must redeem the code. */
  dpopJkt?: string | undefined;
  /** Identifiers of APIs (RFC 8707). */
  resources: readonly string[];
  scope: string;
  nonce: string | undefined;
  /** The user of the request's `id_token_hint`. */
  hintedUserId: string | undefined;
  /** `login_hint`, if it must name the user of the session. */
  loginHint?: string | undefined;
  /** Maximum seconds since the last proof by more than a device key. */
  maxAgeSeconds: number | undefined;
  /** Whether a third-party client asks for the user's consent again (`prompt=consent`). */
  asksConsent: boolean;
  /** Absent: the request asks for none. */
  acr?: AcrRequest | undefined;
  /** The organization of its context: null, to be found among those of the user. Absent: none; the issuer or project has none. */
  organizationId?: string | null | undefined;
}

/** Reads while the facts keep changing. */
const maxReads = 3;

interface SessionCodeDeps {
  db: Database;
  clock: Clock;
  random: Random;
  held: HeldFacts;
}

/** A code, or the session of which only access, consent or the choice of an organization is missing. */
type SessionCodeAnswer =
  | { code: string }
  | { noAccessUnder: string; userId: string }
  | { consentUnder: string }
  | { choiceUnder: string }
  | 'login-required'
  | 'acr-unmet'
  | 'client-changed';

/**
 * Issues a code under the browser's live session, which extends its idle limit: one read, {@link decide}, one write. A session
 * that was read before is decided on what was read then: the write compares it, and only what is read now refuses.
 * `login-required` if no session is live or it does not satisfy the request; the session's id if only access of its user, their
 * consent or the choice of an organization is missing; `acr-unmet` if a live one was not proved as the request asks (`policy/acr.ts`); `client-changed` if the cached
 * client is stale. A refusal writes nothing.
 */
export async function codeUnderSession(deps: SessionCodeDeps, asked: SessionCode): Promise<SessionCodeAnswer> {
  const { db, held } = deps;
  const known = isHeld(asked) ? held.sessions.held(keyOf(asked)) : null;
  if (known) {
    const answer = await answered(deps, { ...known, hasAccess: true, choices: [], isAllowed: true }, asked);
    if (typeof answer === 'object' && 'code' in answer) return answer;
  }
  for (let read = 0; read < maxReads; read += 1) {
    const [row] = await query(db.alone, sessionFacts(asked), { prepare: 'session-code.facts' });
    if (!row?.client_is_current) return 'client-changed';
    const facts = toFacts(row);
    if (!facts) return 'login-required';
    const answer = await answered(deps, facts, asked);
    if (answer !== 'facts-changed') return answer;
  }
  return 'login-required';
}

/** Decides, and issues the code if nothing has changed since the facts were read. */
async function answered(
  { db, clock, random, held }: SessionCodeDeps,
  facts: SessionCodeFacts,
  asked: SessionCode,
): Promise<SessionCodeAnswer | 'facts-changed'> {
  const now = clock.now();
  const project = asked.client.project.getEntity();
  const { organization, verdict } = decide(facts, asked, project, now);
  if (verdict === 'no-access') return { noAccessUnder: facts.session.id, userId: facts.user.id };
  if (verdict === 'choose') return { choiceUnder: facts.session.id };
  if (verdict === 'ask-consent') return { consentUnder: facts.session.id };
  if (verdict !== 'issue') return verdict;
  const code = newSecret(random);
  const made = { id: random.id(), client: asked.client, hash: digest(code), now };
  const use = recordedUse(facts.session, project, now);
  const writing = codeIfUnchanged(facts, asked, { organization, use, made });
  const [written] = await query(db.alone, writing, { prepare: 'session-code.write' });
  if (!written?.client_is_current) return 'client-changed';
  if (!written.is_issued) return 'facts-changed';
  if (isHeld(asked)) {
    held.sessions.hold(keyOf(asked), { session: { ...facts.session, ...use }, user: facts.user });
    held.codes.hold(heldKey(project.id, made.hash), issuedCode(facts, asked, made));
  }
  return { code };
}

/** Whether the next request may decide on what this one reads: codes of an organization, or an impersonation, depend on more. */
const isHeld = ({ organizationId, isImpersonated }: SessionCode): boolean =>
  organizationId === undefined && !isImpersonated;

const keyOf = ({ client, sessionHash }: SessionCode): string => heldKey(client.project.id, sessionHash);

/** The code that was just written, for its exchange. */
function issuedCode({ session, user }: SessionCodeFacts, asked: SessionCode, { id, now }: NewCode): FoundCode {
  const code = requestedCode(asked, session);
  return {
    ...{ id, client_id: asked.client.id, user_id: user.id, session_id: session.id, organization_id: null },
    ...{ issuer: code.issuer, redirect_uri: code.redirectUri, code_challenge: code.codeChallenge ?? null },
    ...{ dpop_jkt: code.dpopJkt ?? null, resources: [...code.resources], scope: code.scope, nonce: code.nonce ?? null },
    ...{ auth_time: code.authTime, amr: [...code.amr], acr: code.acr ?? null },
    ...{ grant_id: null, expires_at: codeExpiry(now), used_at: null, revoked_at: null },
    ...{ ...user.grantee, session_is_live: true, has_access: true, is_allowed: true },
  };
}

/** One row; without `id`, no active user has the session. */
interface SessionCodeRow extends UserFactsRow, Grantee {
  client_is_current: boolean;
  id: string | null;
  moment: string;
  passkey_id: string | null;
  amr: string[];
  connected: Record<string, string> | null;
  auth_time: string;
  fresh_at: string | null;
  created_at: string;
  last_seen_at: string;
  idle_expires_at: string;
  expires_at: string;
  user_id: string;
  user_name_key: string;
  email_key: string | null;
  has_access: boolean;
  is_allowed: boolean;
  choices?: MemberChoice[];
}

/** Whether the decision depends on the credentials of the user. */
function asksForUser({ client, acr }: SessionCode): boolean {
  return acr !== undefined || asksForFacts(client.project.getEntity());
}

/** The session is found by its hash, so the plan stays good as tables grow (decisions/0087). */
function sessionFacts(asked: SessionCode): Statement<SessionCodeRow> {
  const { client, scope, sessionHash, resources } = asked;
  const projectId = client.project.id;
  const ofUser = userFacts(projectId, sql`u.id`, asksForUser(asked));
  const { organizationId } = asked;
  const found = organizationId === undefined ? null : choicesColumn(client, sql`u.id`, organizationId);
  const choices = found ? sql`, ${found} as choices` : sql``;
  const allowed = client.thirdParty
    ? isAllowedTo(client, sql`u.id`, {
        scope: sql`${scope}::text`,
        resources: sql`${[...resources]}::text[]`,
        // Of several, one is chosen first.
        organizationId: found && sql`(${found} -> 0 ->> 'id')::uuid`,
      })
    : sql`true`;
  return sql<SessionCodeRow>`with client as materialized (${currentClient(asked)}),
    held as materialized (select * from sessions where project_id = ${projectId}::uuid and secret_hash = ${sessionHash}::text)
    select exists (select 1 from client) as client_is_current, s.*
    from (values (1)) one left join (
      select s.id, s.moment, s.passkey_id, s.amr, s.connected, s.auth_time, s.fresh_at, s.created_at, s.last_seen_at, s.idle_expires_at,
        s.expires_at, u.id as user_id, u.user_name_key, u.email_key, ${userColumns}, ${ofUser},
        ${hasAccessTo(client, sql`u.id`, null)} as has_access, ${allowed} as is_allowed${choices}
      from held s join users u on u.project_id = ${projectId}::uuid and u.id = s.user_id and u.active
      where s.ended_at is null
    ) s on true`;
}

/** Null if no active user has the session. */
function toFacts(row: SessionCodeRow): SessionCodeFacts | null {
  if (row.id === null) return null;
  return {
    session: {
      id: row.id,
      moment: Number(row.moment),
      passkeyId: row.passkey_id,
      amr: row.amr,
      connected: row.connected,
      authTime: new Date(row.auth_time),
      freshAt: row.fresh_at === null ? null : new Date(row.fresh_at),
      createdAt: new Date(row.created_at),
      lastSeenAt: new Date(row.last_seen_at),
      idleExpiresAt: new Date(row.idle_expires_at),
      expiresAt: new Date(row.expires_at),
    },
    user: {
      ...{ ...toUserFacts(row), id: row.user_id, userNameKey: row.user_name_key, emailKey: row.email_key },
      grantee: granteeOf(row),
    },
    hasAccess: row.has_access,
    choices: row.choices ?? [],
    isAllowed: row.is_allowed,
  };
}

/**
 * `no-access`: the session meets the request, and its user has no access to the client. `choose`: the same, and they may use it in
 * several organizations. `ask-consent`: the same, and they must be asked.
 */
export type SessionVerdict = 'issue' | 'no-access' | 'choose' | 'ask-consent' | 'acr-unmet' | 'login-required';

/** The context of a code, and whether the session gets one. */
interface Decision {
  organization: MemberChoice | null;
  verdict: SessionVerdict;
}

/** Pure. @param project of the client */
export function decide(
  facts: SessionCodeFacts,
  asked: Pick<
    SessionCode,
    'acr' | 'asksConsent' | 'hintedUserId' | 'isImpersonated' | 'loginHint' | 'maxAgeSeconds' | 'organizationId'
  > & {
    client: Pick<SessionCode['client'], 'passkeyRequired' | 'thirdParty'>;
  },
  project: Project,
  now: Date,
): Decision {
  const { choices, hasAccess } = facts;
  const isAsked = asked.organizationId != null;
  const isOpen = !isAsked && choices.length > 1;
  const organization = isOpen ? null : (choices[0] ?? null);
  const mayEnter = organization !== null || isOpen || (hasAccess && !isAsked);
  const verdict = verdictOf(facts, asked, { project, organization, now });
  if (verdict !== 'issue' && verdict !== 'ask-consent') return { organization, verdict };
  if (!mayEnter) return { organization, verdict: 'no-access' };
  return { organization, verdict: isOpen ? 'choose' : verdict };
}

/** The verdict for a user who has access. */
function verdictOf(
  { session, user, isAllowed }: SessionCodeFacts,
  asked: Parameters<typeof decide>[1],
  { project, organization, now }: { project: Project; organization: MemberChoice | null; now: Date },
): SessionVerdict {
  const { acr, asksConsent, client, hintedUserId, isImpersonated, loginHint, maxAgeSeconds } = asked;
  const rules = organization?.policy ?? null;
  const policy = strictest(project, rules);
  if (hasExpired(session, project, now) || (rules && hasExpiredIn(rules, session, project, now)))
    return 'login-required';
  if (!isImpersonated && !meetsSignInPolicy(session, user, policy)) return 'login-required';
  if (acr && lacksAcr(acr, session.amr, project.passkeys && user.holdsPasskey)) return 'acr-unmet';
  if (hintedUserId !== undefined && hintedUserId !== user.id) return 'login-required';
  if (loginHint !== undefined && !isNamedBy(loginHint, user)) return 'login-required';
  if (maxAgeSeconds !== undefined && !isWithinMaxAge(session.freshAt, maxAgeSeconds, now)) return 'login-required';
  if (!isImpersonated && !meetsClientPolicy(session, client)) return 'login-required';
  return isAllowed && !(client.thirdParty && asksConsent) ? 'issue' : 'ask-consent';
}

/**
 * Whether the hint names the session's user. No other user is looked up: whether another one has the name must not decide,
 * or any user could find out which addresses have accounts.
 */
function isNamedBy(hint: string, { id, userNameKey: name, emailKey }: SessionCodeFacts['user']): boolean {
  const keys = [userNameKey(hint), ...addressKeys(hint)];
  return keys.includes(name) || (emailKey !== null && keys.includes(emailKey)) || id === hint;
}

/**
 * One statement: records the use of the session and issues the code, only while client, project, session, user, access, consent and the
 * credentials that decided are as they were read. Uses synchronous_commit = off (decisions/0087).
 */
function codeIfUnchanged(
  { session, user }: SessionCodeFacts,
  asked: SessionCode,
  { organization, use, made }: { organization: MemberChoice | null; use: SessionUse | null; made: NewCode },
): Statement<{ client_is_current: boolean; is_issued: boolean }> {
  const { client, loginHint, maxAgeSeconds } = asked;
  const project = client.project.getEntity();
  const projectId = project.id;
  const userId = sql`${user.id}::uuid`;
  const code = {
    ...{ projectId: sql`seen.project_id`, clientId: sql`client.id`, userId: user.id, sessionId: session.id },
    organizationId: organization?.id,
    ...requestedCode(asked, session),
  };
  const isStillProved = sql`date_trunc('milliseconds', s.fresh_at) is not distinct from ${session.freshAt}::timestamptz`;
  const isStillNamed = sql`u.user_name_key = ${user.userNameKey}::text and u.email_key is not distinct from ${user.emailKey}::text`;
  const isIn = organization
    ? sql`${hasAccessTo(client, userId, sql`${organization.id}::uuid`)} and ${isPolicyUnchanged(projectId, organization.id, organization.policy)}`
    : hasAccessTo(client, userId, null);
  const seen = usedIfUnchanged({ ...session, projectId, secretHash: asked.sessionHash }, use, {
    from: sql`client, users u`,
    where: sql`u.project_id = ${projectId}::uuid and u.id = ${userId} and u.id = s.user_id and u.active
        and ${isGranteeUnchanged(user.grantee)} and ${maxAgeSeconds === undefined ? sql`true` : isStillProved} and ${loginHint === undefined ? sql`true` : isStillNamed}
        and ${areUnchanged(projectId, userId, user, asksForUser(asked))} and ${isIn}`,
  });
  return sql`with client as materialized (${currentClient(asked)}),
    without_waiting as (select set_config('synchronous_commit', 'off', true)),
    seen as (
      ${seen}
    ),
    issued as (${insertedCode(made, code, sql`from seen, client`)} returning 1)${organization ? sql`, joined as (${usedMembership({ projectId, organizationId: organization.id, userId: user.id }, made.now, sql`exists (select 1 from issued)`)})` : sql``}
    select exists (select 1 from client) as client_is_current, exists (select 1 from issued) as is_issued from without_waiting`;
}

/** What the code takes from request and session. */
function requestedCode(asked: SessionCode, { authTime, amr }: SessionCodeFacts['session']) {
  const { acr, issuer, redirectUri, codeChallenge, dpopJkt, resources, scope, nonce } = asked;
  const met = acr && metAcr(acr.values, amr);
  return { authTime, amr, acr: met, issuer, redirectUri, codeChallenge, dpopJkt, resources, scope, nonce };
}
