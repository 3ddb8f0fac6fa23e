import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import { newSecret, type Random } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import { execute, sql } from '../../kernel/sql.ts';
import { accountOf, type Evidence, withPiece } from '../../policy/evidence.ts';
import { freshSeconds, isProvedSince } from '../../policy/freshness.ts';
import { mayAddPasskey } from '../../policy/requirements.ts';
import { type Site } from '../../projects/site.ts';
import { isFreshNow } from '../../sessions/freshness.ts';
import type { Session } from '../../sessions/session.entity.ts';
import { addressKey } from '../../users/login.ts';
import { User } from '../../users/user.entity.ts';
import type { CheckedPage, SigninCaller } from '../callers.ts';
import type { Flow } from '../flow.ts';
import { hasPasskey, mayUsePasskeys } from '../sign-in-context.ts';

/** A sign-in that can add a passkey, and the browser that would create it. */
type Offer = Pick<Flow, 'em' | 'deps' | 'ceremony'> & { caller: CheckedPage & Pick<SigninCaller, 'sessionSecret'> };

/**
 * Opens the offer of a passkey under a fresh session, without another sign-in (decisions/0344): a sign-in that has reached
 * `stepped_up`, which ends with the freshness of the session. It can only create a passkey, and issues neither session nor
 * code. The caller has checked that the session is live and fresh.
 */
export async function openOffer(
  { clock, random }: { clock: Clock; random: Random },
  em: EntityManager,
  offer: { requestId: string; clientId: string; site: Pick<Site, 'origin'>; user: User; session: Session },
): Promise<void> {
  const { requestId, clientId, site, user, session } = offer;
  const { freshAt } = session;
  if (!freshAt) throw new Error('a session without a proof offers no passkey');
  const piece = { kind: 'session', account: user.id, session: session.id, amr: session.amr } as const;
  const evidence = withPiece([], { ...piece, at: freshAt.toISOString() });
  const now = clock.now();
  // The row names the request.
  await em.flush();
  await execute(
    em,
    sql`insert into ceremonies (id, project_id, client_id, request_id, txn_hash, nonce_hash, nonce_expires_at, state,
          origin, address, evidence, step_up, amr, created_at, expires_at)
        values (${random.id()}, ${user.project.id}, ${clientId}, ${requestId}, ${digest(newSecret(random))},
          ${digest(newSecret(random))}, ${now}, 'stepped_up', ${site.origin}, ${addressKey(user.email ?? user.userName)},
          ${JSON.stringify(evidence)}::jsonb, 'create_passkey', '{}', ${now}, ${secondsLater(freshAt, freshSeconds)})`,
  );
}

/** The session that replaces the evidence of a sign-in; undefined: the sign-in has its own. */
export function sessionPieceOf(evidence: readonly Evidence[]) {
  return evidence.find((piece) => piece.kind === 'session');
}

/** Whether this browser still has the session of the evidence, live and fresh. */
async function isStillFresh({ em, deps, caller, ceremony }: Offer, user: User): Promise<boolean> {
  const piece = sessionPieceOf(ceremony.evidence);
  if (!piece || !caller.sessionSecret) return false;
  const session = await deps.sessions.peek(em, caller.project, caller.sessionSecret);
  return session?.id === piece.session && session.user.id === user.id && isFreshNow(deps, em, user, session);
}

/**
 * On the hosted page after the sign-in, whether the browser still has the user's session: after a logout, another
 * person may use the browser. The offer of the account page survives a reload, and so a new session: it must have begun or
 * been confirmed with the person after the request.
 */
export async function isSignedIn(flow: Offer, user: User): Promise<boolean> {
  const { em, deps, caller, ceremony } = flow;
  if (sessionPieceOf(ceremony.evidence)) return isStillFresh(flow, user);
  if (!caller.request || ceremony.state !== 'stepped_up') return true;
  const session = caller.sessionSecret && (await deps.sessions.held(em, caller.project, caller.sessionSecret));
  if (!session || session.user.id !== user.id) return false;
  return !caller.request.addsPasskey || isProvedSince(session, caller.request.moment);
}

/** A session's proof has been checked by {@link isSignedIn}. */
export async function mayAdd(flow: Offer, user: User): Promise<boolean> {
  if (sessionPieceOf(flow.ceremony.evidence)) return true;
  const factors = (await flow.deps.mfa.factors(flow.em, user)).map(({ method }) => method);
  return mayAddPasskey(flow.ceremony.evidence, { factors, hasPasskey: await hasPasskey(flow, user.id) });
}

/** Whether the offer of a passkey that a resumed page would show can be taken. */
export async function isOfferOpen(offer: Offer): Promise<boolean> {
  const { em, caller, ceremony } = offer;
  if (!mayUsePasskeys(offer)) return false;
  const where = { project: caller.project.id, id: accountOf(ceremony.evidence) ?? '', active: true };
  const user = await em.findOne(User, where);
  return user !== null && (await isSignedIn(offer, user)) && (await mayAdd(offer, user));
}
