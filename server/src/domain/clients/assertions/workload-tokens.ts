import { createLocalJWKSet, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { isCompactJws } from '../../kernel/base64url.ts';
import { type Clock, seconds } from '../../kernel/clock.ts';
import { refuse } from '../../kernel/problem.ts';
import { digest } from '../../kernel/secret.ts';
import type { Issuer } from '../../projects/issuer.ts';
import type { Client } from '../client.entity.ts';
import { usableKeys } from '../client-keys.ts';
import { checkLogoutUri } from '../logout-uri.ts';
import { type FetchJson, RemoteKeys } from '../remote-keys.ts';
import type { CheckedAssertion } from './client-assertions.ts';

/** The tokens that authenticate a client: `iss`, `sub` and one of `aud`, compared exactly. */
export interface WorkloadRule {
  issuer: string;
  subject: string;
  audience: string;
}

/** Of a client whose three settings are set; else null. */
export function workloadRuleOf(
  client: Pick<Client, 'workloadIssuer' | 'workloadSubject' | 'workloadAudience'>,
): WorkloadRule | null {
  const { workloadIssuer: issuer, workloadSubject: subject, workloadAudience: audience } = client;
  return issuer == null || subject == null || audience == null ? null : { issuer, subject, audience };
}

/** Identifies a rule with the tokens that a client obtained by it; in SQL `credential-of-tokens.ts`. */
const hashOf = ({ issuer, subject, audience }: WorkloadRule) => digest([issuer, subject, audience].join('\n'));

const leewaySeconds = 30;
/** Longest time from issue to expiry: within it, the token can be sent again. */
const longestSeconds = 2 * 3600;

/**
 * Client assertions of another issuer (RFC 7523 section 3, decisions/0411): tokens of CI jobs and Kubernetes service accounts. Their keys
 * are those of the client, if it has some, else found by the discovery document of the issuer.
 */
export class WorkloadTokens {
  private readonly discovered: RemoteKeys;

  constructor(
    private readonly deps: { clock: Clock; remoteKeys: RemoteKeys; fetchJson: FetchJson; allowPrivateTargets: boolean },
  ) {
    this.discovered = new RemoteKeys({ clock: deps.clock, fetchJson: (issuer) => this.discover(issuer) });
  }

  /** Refuses `client-rejected` unless the token is one of the rule, and valid. */
  async check(client: Client, rule: WorkloadRule, token: string, issuer: Issuer): Promise<CheckedAssertion> {
    if (!isCompactJws(token)) reject('not a compact JWS in base64url');
    const { exp = 0, iat, sub } = await this.verified(client, rule, token, issuer);
    if (sub !== rule.subject) reject('sub is not that of the workload');
    if (iat === undefined || exp - iat > longestSeconds) {
      reject('the lifetime of the token is too long', 'The token needs iat, and exp at most 2 hours later.');
    }
    // Such tokens are files, which a workload sends with each request: not single use.
    return { jtiHash: null, keyHash: null, workloadHash: hashOf(rule), forgetAt: new Date(exp * 1000) };
  }

  private async verified(client: Client, rule: WorkloadRule, token: string, issuer: Issuer): Promise<JWTPayload> {
    try {
      // Of its other kinds of tokens, such as access tokens, none authenticates anybody.
      const { kid, typ = 'JWT' } = decodeProtectedHeader(token);
      if (typ.toUpperCase() !== 'JWT') return reject('typ is not JWT');
      const keys = createLocalJWKSet({ keys: await this.keysOf(client, rule, kid) });
      const { payload } = await jwtVerify(token, keys, {
        algorithms: issuer.capabilities.assertionAlgorithms.flatMap((alg) =>
          alg === 'EdDSA' ? [alg, 'Ed25519'] : [alg],
        ),
        issuer: rule.issuer,
        audience: rule.audience,
        clockTolerance: leewaySeconds,
        currentDate: this.deps.clock.now(),
        requiredClaims: ['exp', 'sub'],
      });
      const now = seconds(this.deps.clock.now());
      if (payload.iat !== undefined && payload.iat > now + leewaySeconds) return reject('iat is in the future');
      return payload;
    } catch (error) {
      if (error instanceof errors.JWTClaimValidationFailed) return reject(`the claim ${error.claim} does not fit`);
      // Refusals are counted by their reason. Other messages may repeat the token's header.
      if (error instanceof errors.JOSEError) return reject(error.code);
      if (error instanceof TypeError) return reject('the key does not fit');
      throw error;
    }
  }

  private async keysOf(client: Client, { issuer }: WorkloadRule, kid: string | undefined) {
    if (client.jwkSet != null || client.jwk != null) {
      return usableKeys({ keys: client.jwkSet ?? [client.jwk] });
    }
    const { jwksUri } = client;
    const keys = await (jwksUri == null ? this.discovered.at(issuer, kid) : this.deps.remoteKeys.at(jwksUri, kid));
    return (
      keys ?? reject('the keys of the issuer cannot be read', 'The keys of the issuer of the token cannot be read.')
    );
  }

  /** The key set of an issuer (OpenID Connect Discovery section 4). */
  private async discover(issuer: string): ReturnType<FetchJson> {
    const found = await this.deps.fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if ('error' in found) return found;
    const { issuer: named, jwks_uri: uri } = (found.json ?? {}) as Record<string, unknown>;
    if (named !== issuer) return { error: 'the document is of another issuer' };
    if (typeof uri !== 'string' || checkLogoutUri(uri, this.deps.allowPrivateTargets) !== null) {
      return { error: 'jwks_uri is not accepted' };
    }
    return this.deps.fetchJson(uri);
  }
}

/** @param detail for the caller */
function reject(reason: string, detail?: string): never {
  return refuse({ code: 'client-rejected', reason, ...(detail === undefined ? {} : { detail }) });
}
