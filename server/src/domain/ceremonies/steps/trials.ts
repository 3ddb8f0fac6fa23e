import type { EntityManager } from '@mikro-orm/postgresql';
import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import { type Audit, aboutClient } from '../../audit/audit.ts';
import { Client } from '../../clients/client.entity.ts';
import { fitsIssuer } from '../../clients/client-settings.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Database } from '../../kernel/database.ts';
import { refuse } from '../../kernel/problem.ts';
import { newSecret, type Random } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import type { Signer, TokenKind } from '../../keys/signer.ts';
import type { Vault } from '../../keys/vault.ts';
import { type Issuer, organizationsScope, projectIssuer, storedIssuer } from '../../projects/issuer.ts';
import { existing, type TenantKey } from '../../projects/tenant.ts';
import { Participation } from '../../sessions/participation.entity.ts';
import { AuthorizationCode } from '../../tokens/authorization-code.entity.ts';
import type { Tokens } from '../../tokens/tokens.ts';
import type { AuthorizationRequests, BegunFlow } from '../requests/authorization-requests.ts';

export interface TrialDeps {
  db: Database;
  random: Random;
  vault: Vault;
  audit: Audit;
  requests: AuthorizationRequests;
  tokens: Pick<Tokens, 'exchange' | 'userInfo' | 'revoke'>;
  signer: Signer;
}

/** A decoded token, without the token itself: that would be a credential. */
export interface DecodedToken {
  header: ProtectedHeaderParameters;
  claims: JWTPayload;
  /** Whether signature, type, issuer and times verify against the published keys. */
  verified: boolean;
}

export interface TrialResult {
  client: Client;
  idToken: DecodedToken;
  accessToken: DecodedToken;
  /** UserInfo's response to the access token. */
  userInfo: Record<string, unknown>;
  scope: string;
  expiresInSeconds: number;
  /** Whether UserInfo now refuses the access token. */
  revoked: boolean;
}

/** A refresh token, which a trial could not use, and organizations, which not every project has. */
const unused: readonly string[] = ['offline_access', organizationsScope];

/**
 * Trial sign-ins of a client from the console (decisions/0050). No state is stored between the two steps: the verifier
 * is derived from the client, a random number and the admin's session, so only that session can continue.
 */
export class Trials {
  constructor(private readonly deps: TrialDeps) {}

  /** Starts a flow of the hosted page. Refuses `not-found`, and `forbidden` for a client that cannot be tried. */
  begin(of: TenantKey, sessionId: string, actor: Actor): Promise<BegunFlow> {
    const { db, random, audit, requests } = this.deps;
    return db.transaction(async (em) => {
      const client = await this.triable(of, em);
      const state = `${client.id}.${newSecret(random)}`;
      audit.record(em, { type: 'client.trial_begun', actor, ...aboutClient(client) });
      const issuer = await issuerOf(em, client, this.deps.signer.base);
      return requests.begin(em, {
        projectId: client.project.id,
        clientId: client.id,
        issuer: storedIssuer(issuer),
        redirectUri: this.redirectUri(),
        scope: issuer.capabilities.scopes.filter((scope) => !unused.includes(scope)).join(' '),
        state,
        nonce: this.nonce(state, sessionId),
        codeChallenge: digest(this.verifier(state, sessionId)),
      });
    });
  }

  /**
   * Redeems the code, calls UserInfo, decodes both tokens and revokes the access token. Refuses `grant-rejected` if the
   * trial was not started in this session, is finished or has expired.
   */
  async finish(of: TenantKey, sessionId: string, state: string, code: string, actor: Actor): Promise<TrialResult> {
    const { db, audit, tokens } = this.deps;
    const client = await this.triable(of, db.reader());
    if (!state.startsWith(`${client.id}.`)) refuse({ code: 'grant-rejected', reason: 'mismatch' });
    const { issuer, userId } = await this.originOf(client, code);
    const exchanged = await tokens.exchange({
      client,
      code,
      codeVerifier: this.verifier(state, sessionId),
      redirectUri: this.redirectUri(),
      authenticatedBy: 'trial',
      issuer,
      actor,
    });
    const answer = exchanged ?? refuse({ code: 'grant-rejected', reason: 'mismatch' });
    const issued = { project: client.project, id: String(decodeJwt(answer.access_token).jti) };
    try {
      const userInfo = await tokens.userInfo(answer.access_token, issuer);
      const [idToken, accessToken] = await Promise.all([
        this.decode('id-token', answer.id_token ?? '', issuer, client.id),
        this.decode('access-token', answer.access_token, issuer, issuer.url),
      ]);
      if (idToken.claims['nonce'] !== this.nonce(state, sessionId)) idToken.verified = false;
      await db.transaction(async (em) => {
        await tokens.revoke(em, issued);
        const detail = { userId };
        audit.record(em, { type: 'client.tried', actor, ...aboutClient(client), detail });
      });
      return {
        client,
        idToken,
        accessToken,
        userInfo: 'claims' in userInfo ? userInfo.claims : { error: userInfo.refused },
        scope: answer.scope ?? '',
        expiresInSeconds: answer.expires_in,
        revoked: 'refused' in (await tokens.userInfo(answer.access_token, issuer)),
      };
    } catch (error) {
      await db.transaction((em) => tokens.revoke(em, issued));
      throw error;
    }
  }

  /** A console page that is not a client's redirect URI, so no other request can send codes there. */
  private redirectUri(): string {
    return `${this.deps.signer.base.url}/admin/trial`;
  }

  /** The user of the code and the issuer that issued it; the base issuer if the code is unknown. */
  private async originOf(client: Client, code: string): Promise<{ issuer: Issuer; userId: string | undefined }> {
    const { db, signer } = this.deps;
    const known = await db.reader().findOne(AuthorizationCode, { project: client.project, hash: digest(code) });
    const issuer = known?.issuer == null ? signer.base : projectIssuer(signer.base.url, client.project.getEntity());
    return { issuer, userId: known?.user?.id };
  }

  private verifier(state: string, sessionId: string): string {
    return this.deps.vault.mac('trial-verifier', sessionId, state);
  }

  private nonce(state: string, sessionId: string): string {
    return this.deps.vault.mac('trial-nonce', sessionId, state);
  }

  private async decode(kind: TokenKind, token: string, issuer: Issuer, audience: string): Promise<DecodedToken> {
    const verified = await this.deps.signer.verify(kind, token, { issuer, audience });
    return {
      header: decodeProtectedHeader(token),
      claims: verified ?? decodeJwt(token),
      verified: verified !== null,
    };
  }

  private async triable(of: TenantKey, em: EntityManager): Promise<Client> {
    const client = await existing(em, Client, of, 'client', { populate: ['project'] });
    if (client.builtIn === 'console') {
      refuse({ code: 'forbidden', reason: 'this client already signs you in to the console' });
    }
    if (client.disabledAt) refuse({ code: 'forbidden', reason: 'the application is disabled' });
    return client;
  }
}

/** The issuer that the application uses: the only one that fits, else that of its latest tokens, else the base issuer. */
async function issuerOf(em: EntityManager, client: Client, base: Issuer): Promise<Issuer> {
  const [latest] = fitsIssuer(client, base)
    ? await em.find(Participation, { project: client.project.id, client }, { orderBy: { lastAt: 'desc' }, limit: 1 })
    : [{ issuer: 'of the project' }];
  return latest?.issuer == null ? base : projectIssuer(base.url, client.project.getEntity());
}
