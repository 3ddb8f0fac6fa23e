import { compactVerify, createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors } from 'jose';
import type { RemoteKeys } from '../../clients/remote-keys.ts';
import { isCompactJws } from '../../kernel/base64url.ts';
import type { Database } from '../../kernel/database.ts';
import { type Fragment, query, sql } from '../../kernel/sql.ts';
import type { OidcSettings } from '../connection.entity.ts';
import { headerFault, idTokenAlgorithms } from '../oidc/id-token.ts';
import type { Providers } from '../oidc/providers.ts';
import { isUsable } from '../usable.ts';

/** `typ` of an identity assertion (draft-ietf-oauth-identity-assertion-authz-grant section 3.1). */
const assertionTyp = 'oauth-id-jag+jwt';

/** Why an assertion is not one of a trusted issuer. */
type AssertionFault = 'malformed' | 'untrusted-issuer' | 'unreachable' | 'signature';

/** The connection whose issuer signed an assertion. */
export interface TrustedIssuer {
  id: string;
  /** Of the settings that verified it. */
  version: number;
  issuer: string;
  /** Google Workspace only. */
  hostedDomain: string | null;
}

/** A signed assertion. Its claims are not checked yet. */
export interface SignedAssertion {
  trusted: TrustedIssuer;
  claims: Record<string, unknown>;
}

const largestLength = 16 * 1024;

/** SQL condition: connection `c` accepts identity assertions, and people can sign in by it. */
export const acceptsAssertions: Fragment = sql`c.kind = 'oidc' and c.accepts_assertions and ${isUsable}`;

/**
 * Issuers whose identity assertions a project accepts: those of its OpenID Connect connections that are enabled and say so
 * (decisions/0425). Only these are ever called, and no address of an assertion.
 */
export class AssertionIssuers {
  constructor(private readonly deps: { db: Database; providers: Providers; remoteKeys: RemoteKeys }) {}

  /** Verifies `typ`, issuer and signature. */
  async verified(projectId: string, assertion: string): Promise<SignedAssertion | { fault: AssertionFault }> {
    if (assertion.length > largestLength || !isCompactJws(assertion)) return { fault: 'malformed' };
    try {
      const header = decodeProtectedHeader(assertion);
      if (header.typ !== assertionTyp) return { fault: 'malformed' };
      if (headerFault(header as Record<string, unknown>)) return { fault: 'signature' };
      const claims = decodeJwt(assertion);
      const trusted = typeof claims.iss === 'string' ? await this.trusted(projectId, claims.iss) : null;
      if (!trusted) return { fault: 'untrusted-issuer' };
      const metadata = await this.deps.providers.at(trusted.issuer);
      const keys = metadata && (await this.deps.remoteKeys.at(metadata.jwksUri, header.kid));
      if (!keys) return { fault: 'unreachable' };
      await compactVerify(assertion, createLocalJWKSet({ keys }), { algorithms: [...idTokenAlgorithms] });
      return { trusted, claims };
    } catch (error) {
      if (!(error instanceof errors.JOSEError || error instanceof TypeError)) throw error;
      return { fault: 'signature' };
    }
  }

  private async trusted(projectId: string, issuer: string): Promise<TrustedIssuer | null> {
    const statement = sql<{ id: string; version: number; settings: OidcSettings }>`select c.id, c.version, c.settings
      from connections c where c.project_id = ${projectId}::uuid and c.settings ->> 'issuer' = ${issuer}::text
        and ${acceptsAssertions} limit 1`;
    const [row] = await query(this.deps.db.alone, statement, { prepare: 'connections.of-assertion' });
    return row ? { id: row.id, version: row.version, issuer, hostedDomain: row.settings.hostedDomain ?? null } : null;
  }
}
