import type { Audit } from '../audit/audit.ts';
import { clientIdOf } from '../clients/client-id.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import type { Signer } from '../keys/signer.ts';
import { storedIssuer } from '../projects/issuer.ts';
import { keyIn } from '../projects/tenant.ts';
import { AuthorizationCode } from './authorization-code.entity.ts';
import { isAuthentic, type SentToken } from './grants/grant.ts';
import { RefreshGrant } from './refresh-grant.entity.ts';
import { parseRefreshToken } from './refresh-token.ts';
import { endRefreshGrant } from './user-tables.ts';

/** Ends tokens for the clients that they were issued to (RFC 7009). */
export class RevocableTokens {
  constructor(private readonly deps: { db: Database; clock: Clock; audit: Audit; signer: Signer }) {}

  /** `client-rejected`: the client has changed, or its assertion was used before. An unknown token is `done`. */
  revoke(sent: SentToken): Promise<'done' | 'other-client' | 'client-rejected'> {
    return this.deps.db.transaction(async (em) => {
      if (!(await isAuthentic(em, sent, sent))) return 'client-rejected';
      const now = this.deps.clock.now();
      const projectId = sent.client.project.id;
      const refreshToken = parseRefreshToken(sent.token);
      if (refreshToken) {
        // By any token of its family: the client may have missed the live one.
        const grant = await em.findOne(RefreshGrant, { project: projectId, familyHash: digest(refreshToken.family) });
        if (grant?.issuer !== storedIssuer(sent.issuer)) return 'done';
        if (grant.client.id !== sent.client.id) return 'other-client';
        if (await endRefreshGrant(em, keyIn(projectId, grant.id), now)) this.record(em, sent, grant.user.id);
        return 'done';
      }
      const { signer } = this.deps;
      const { issuer, token } = sent;
      const claims =
        (await signer.verifyAccessToken(token, issuer)) ?? (await signer.verify('api-token', token, { issuer }));
      if (!claims || !isUuid(claims.jti)) return 'done';
      if (claims['client_id'] !== clientIdOf(sent.client)) return 'other-client';
      const row = await em.findOne(AuthorizationCode, { project: projectId, id: claims.jti });
      if (!row || row.revokedAt) return 'done';
      row.revokedAt = now;
      this.record(em, sent, row.user?.id);
      return 'done';
    });
  }

  /** @param userId absent for a token of the client itself */
  private record(em: Parameters<Audit['record']>[0], { actor, client }: SentToken, userId: string | undefined): void {
    this.deps.audit.record(em, {
      type: 'token.revoked',
      actor,
      projectId: client.project.id,
      clientId: client.id,
      subject:
        userId === undefined ? { kind: 'client', id: client.id, name: client.name } : { kind: 'user', id: userId },
    });
  }
}
