import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuthorizationRequests, BegunFlow } from '../ceremonies/requests/authorization-requests.ts';
import { openOffer } from '../ceremonies/steps/session-proof.ts';
import type { Clock } from '../kernel/clock.ts';
import { found } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { query, sql } from '../kernel/sql.ts';
import { meetsClientPolicy } from '../policy/session.ts';
import { domainOrigin, siteOf } from '../projects/site.ts';
import { type FreshnessDeps, isFreshNow } from '../sessions/freshness.ts';
import type { Session } from '../sessions/session.entity.ts';
import type { User } from '../users/user.entity.ts';

export interface ConfirmationDeps extends FreshnessDeps {
  clock: Clock;
  random: Random;
  requests: Pick<AuthorizationRequests, 'begin'>;
  issuer: string;
}

/** Redirect path of the sign-in; `state` is the project's id, and the section of the page that the user comes from. */
export const confirmedPath = '/account/confirmed';

/**
 * Begins a sign-in at the host of the visitor's session that requires a mail code or a factor, to refresh the session.
 * It issues no authorization code. A session that is fresh is not asked again: the page then offers the passkey.
 * Refuses `not-found` if the project has no enabled client.
 *
 * @param adds credential that the sign-in is to add; it then requires the evidence that a new passkey requires
 * @param section of the account page, to return to
 */
export async function beginConfirmation(
  deps: ConfirmationDeps,
  em: EntityManager,
  user: User,
  session: Session,
  { adds, section }: { adds?: 'passkey' | 'authenticator'; section?: string | undefined } = {},
): Promise<BegunFlow> {
  const { issuer, random, requests } = deps;
  const projectId = user.project.id;
  const { domain } = session;
  const origin = domain == null ? issuer : domainOrigin(issuer, domain);
  const client = await clientOf(em, projectId, session);
  // Otherwise the session would not answer the request.
  const isAccepted = meetsClientPolicy(session, client);
  const offers = adds === 'passkey' && isAccepted && (await isFreshNow(deps, em, user, session));
  const begun = await requests.begin(em, {
    projectId,
    clientId: client.id,
    issuer: domain == null ? null : origin,
    redirectUri: `${origin}${confirmedPath}`,
    scope: 'openid',
    state: section === undefined ? projectId : `${projectId} ${section}`,
    codeChallenge: digest(newSecret(random)),
    loginHint: user.email ?? user.userName,
    hintedUserId: user.id,
    personRequired: true,
    sessionId: offers ? session.id : undefined,
    addsPasskey: adds === 'passkey',
    addsAuthenticator: adds === 'authenticator',
  });
  const site = siteOf(issuer, domain == null ? null : origin);
  if (offers) await openOffer(deps, em, { requestId: begun.id, clientId: client.id, site, user, session });
  return begun;
}

/**
 * Begins a sign-in without an application, for the account page at this host. It issues no authorization code. Refuses
 * `not-found` if the project has no enabled client.
 *
 * @param domain null: the base host
 * @param loginHint the address to fill in
 */
export async function beginAccountSignIn(
  { issuer, random, requests }: Pick<ConfirmationDeps, 'issuer' | 'random' | 'requests'>,
  em: EntityManager,
  projectId: string,
  domain: string | null,
  loginHint?: string,
): Promise<BegunFlow> {
  const origin = domain === null ? issuer : domainOrigin(issuer, domain);
  const [client] = await query(
    em,
    sql<{ id: string }>`select id from clients
      where project_id = ${projectId} and disabled_at is null and not third_party order by id limit 1`,
  );
  return requests.begin(em, {
    projectId,
    clientId: found(client, 'client').id,
    issuer: domain === null ? null : origin,
    redirectUri: `${origin}${confirmedPath}`,
    scope: 'openid',
    state: projectId,
    codeChallenge: digest(newSecret(random)),
    loginHint,
  });
}

/** The client of this browser's device, else the last client of the session, else any. */
async function clientOf(em: EntityManager, projectId: string, { id, deviceId }: Session) {
  const [client] = await query(
    em,
    sql<{ id: string; passkeyRequired: boolean }>`
      select k.id, k.passkey_required as "passkeyRequired" from clients k
          left join credentials d on d.project_id = k.project_id and d.client_id = k.id and d.id = ${deviceId ?? null}::uuid
          left join participations p on p.project_id = k.project_id and p.client_id = k.id and p.session_id = ${id}
        where k.project_id = ${projectId} and k.disabled_at is null
        order by d.id is null, p.last_at desc nulls last, k.id limit 1`,
    { prepare: 'confirmation.client-of' },
  );
  return found(client, 'client');
}
