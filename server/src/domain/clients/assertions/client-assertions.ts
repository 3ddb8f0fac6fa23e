import {
  type CryptoKey,
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  exportJWK,
  importJWK,
  type JWK,
  type JWTVerifyGetKey,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import { isCompactJws } from '../../kernel/base64url.ts';
import { type Clock, seconds, secondsLater } from '../../kernel/clock.ts';
import { refuse } from '../../kernel/problem.ts';
import { publicKeyFault } from '../../kernel/public-keys/public-key.ts';
import { digest } from '../../kernel/secret.ts';
import { type Executing, type Fragment, query, sql } from '../../kernel/sql.ts';
import type { Issuer } from '../../projects/issuer.ts';
import type { TenantKey } from '../../projects/tenant.ts';
import type { Client } from '../client.entity.ts';
import { clientIdOf } from '../client-id.ts';
import { usableKeys } from '../client-keys.ts';
import { fapiAlgorithms } from '../fapi.ts';
import type { RemoteKeys } from '../remote-keys.ts';

/** Tolerated clock skew in seconds. */
const leewaySeconds = 30;
/** Maximum seconds until expiry and since issue. */
const longestSeconds = 5 * 60;

/** An assertion that is valid if it is unused and its client is unchanged. */
export interface CheckedAssertion {
  /** Null: not single use. */
  jtiHash: string | null;
  /** SHA-256 of `n` or `x` of the registered key; null: it was read from `jwks_uri`. */
  keyHash: string | null;
  /** SHA-256 of the rule for tokens of another issuer; absent: the client's own assertion. */
  workloadHash?: string;
  /** Expiry plus leeway. */
  forgetAt: Date;
}

/** An assertion that is accepted once. */
type SingleUse = CheckedAssertion & { jtiHash: string };

export const isSingleUse = (assertion: CheckedAssertion): assertion is SingleUse => assertion.jtiHash !== null;

/** SQL: records the assertion of the client in the CTE `client` as used. No row if it was used before. */
export function usedAssertion({ forgetAt, jtiHash }: Pick<SingleUse, 'forgetAt' | 'jtiHash'>): Fragment {
  return sql`insert into used_assertions (project_id, client_id, jti_hash, forget_at)
    select project_id, id, ${jtiHash}::text, ${forgetAt}::timestamptz from client on conflict do nothing returning 1`;
}

/** SQL: records a JWT of another kind as used by the client, for each row of `from` (`project_id`). No row if it was used before. */
export function usedOnce(
  { clientId, jtiHash, forgetAt }: { clientId: string; jtiHash: string; forgetAt: Date },
  from: Fragment,
): Fragment {
  return sql`insert into used_assertions (project_id, client_id, jti_hash, forget_at)
    select project_id, ${clientId}::uuid, ${jtiHash}::text, ${forgetAt}::timestamptz from ${from}
    on conflict do nothing returning 1`;
}

/** Whether the assertion was used before. Does not use it. */
export async function wasUsed(on: Executing, client: TenantKey, { jtiHash }: CheckedAssertion): Promise<boolean> {
  const statement = sql<{ used: boolean }>`select true as used from used_assertions
    where project_id = ${client.project.id}::uuid and client_id = ${client.id}::uuid and jti_hash = ${jtiHash}`;
  return (await query(on, statement, { prepare: 'client-assertions.was-used' })).length > 0;
}

type Verifying = CryptoKey | ReturnType<typeof createLocalJWKSet>;

/** Client assertions of `private_key_jwt` (RFC 7523 §3, OpenID Connect Core §9). */
export class ClientAssertions {
  /** Imported keys, while the client entity is cached. */
  private readonly imported = new WeakMap<Client, Verifying>();

  constructor(private readonly deps: { clock: Clock; remoteKeys: RemoteKeys }) {}

  /**
   * Refuses `client-rejected` unless signature, issuer, audience and times are valid. The statement that grants
   * something checks that the assertion is unused and the client unchanged.
   *
   * @param issuer the issuer that received it: `aud` is or contains its address or, if the client may name them, that of
   *   its token or PAR endpoint (RFC 9126 §2)
   */
  async check(client: Client, assertion: string, issuer: Issuer): Promise<CheckedAssertion> {
    const { payload, keyHash } = await this.verified(client, assertion, issuer);
    const now = seconds(this.deps.clock.now());
    const { exp, iat, jti, sub } = payload;
    if (sub !== clientIdOf(client))
      reject('sub is not the client', 'In the client assertion, sub must be the client_id.');
    if (typeof exp !== 'number') return reject('exp is missing', 'The client assertion needs exp.');
    if (exp > now + longestSeconds + leewaySeconds) {
      reject('exp is too far ahead', 'The client assertion expires too late: exp must be at most 5 minutes ahead.');
    }
    if (iat !== undefined && (iat > now + leewaySeconds || iat < now - longestSeconds - leewaySeconds)) {
      reject(
        'iat is in the future or too old',
        'The client assertion must be at most 5 minutes old: check iat and the clock.',
      );
    }
    if (typeof jti !== 'string' || jti === '') {
      return reject('jti is missing', 'The client assertion needs jti, a value used once.');
    }
    return {
      jtiHash: digest(jti),
      keyHash,
      forgetAt: secondsLater(new Date(exp * 1000), 4 * leewaySeconds),
    };
  }

  private async verified(client: Client, assertion: string, issuer: Issuer) {
    const key = await this.keyOf(client, assertion);
    if (!isCompactJws(assertion)) reject('not a compact JWS in base64url');
    const audiences = audiencesFor(client, issuer);
    const offered = issuer.capabilities.assertionAlgorithms.filter(
      (alg) => !client.fapiProfile || fapiAlgorithms.includes(alg),
    );
    const algorithms = offered.flatMap((alg) => (alg === 'EdDSA' ? [alg, 'Ed25519'] : [alg]));
    const wrongAudience = `aud of the client assertion must be ${audiences[0]}${client.fapiProfile ? ', as a string' : ''}.`;
    try {
      // A single key is used in any case, and one of a set is chosen by the header.
      const { payload, key: used = key } = (await jwtVerify(assertion, key as JWTVerifyGetKey, {
        algorithms,
        issuer: clientIdOf(client),
        audience: audiences,
        clockTolerance: leewaySeconds,
        currentDate: this.deps.clock.now(),
      })) as JWTVerifyResult & { key?: CryptoKey };
      if (![payload.aud].flat().every((one) => typeof one === 'string')) {
        return reject('aud contains a value that is not a string', wrongAudience);
      }
      if (client.fapiProfile && typeof payload.aud !== 'string') {
        return reject('aud is not a string', wrongAudience);
      }
      return { payload, keyHash: client.jwksUri == null ? await hashOf(client, used) : null };
    } catch (error) {
      if (!(error instanceof errors.JOSEError || error instanceof TypeError)) throw error;
      if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud')
        reject(error.message, wrongAudience);
      if (error instanceof errors.JOSEAlgNotAllowed) {
        reject(error.message, `The client assertion must be signed with ${offered.join(', ')}.`);
      }
      if (error instanceof errors.JWTExpired)
        reject(error.message, 'The client assertion has expired: check exp and the clock.');
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
        reject(error.message, 'kid and alg of the client assertion must select one registered key.');
      }
      if (error instanceof errors.JWTClaimValidationFailed) reject(error.message);
      // Refusals are counted by their reason. Other messages may repeat the assertion's header, so each would be a new event.
      return reject(error instanceof errors.JOSEError ? error.code : 'the key does not fit');
    }
  }

  private async keyOf(client: Client, assertion: string): Promise<Verifying> {
    if (client.jwksUri != null) return this.remoteKeysOf(client.jwksUri, assertion);
    const known = this.imported.get(client);
    if (known) return known;
    // Keys from before release 1.0 may be refused today.
    const key = client.jwkSet
      ? createLocalJWKSet({ keys: usableKeys({ keys: client.jwkSet }) })
      : await imported(client.jwk);
    this.imported.set(client, key);
    return key;
  }

  private async remoteKeysOf(uri: string, assertion: string): Promise<Verifying> {
    const keys = await this.deps.remoteKeys.at(uri, kidOf(assertion));
    if (keys === null)
      return reject('jwks_uri cannot be read', 'The key set at jwks_uri of the application cannot be read.');
    return createLocalJWKSet({ keys });
  }
}

/** Values that `aud` may have, the recommended one first: only the issuer with FAPI 2.0 (Security Profile section 5.3.2.1). */
function audiencesFor({ fapiProfile }: Client, { url, capabilities }: Issuer): string[] {
  if (fapiProfile) return [url];
  return [`${url}/oauth2/token`, url, ...(capabilities.pushedRequests ? [`${url}/oauth2/par`] : [])];
}

async function imported(jwk: JWK | null | undefined): Promise<CryptoKey> {
  if (!jwk) return reject('no key is registered');
  const broken = publicKeyFault(jwk);
  if (broken) {
    const detail = `The registered key of the application is not accepted: ${broken.reason}.`;
    return reject('the registered key is refused', detail);
  }
  return (await importJWK(jwk, 'EdDSA')) as CryptoKey;
}

/** By `n` of an RSA key, or `x` of any other, which SQL reads from the stored key. */
async function hashOf({ jwk }: Client, used: unknown): Promise<string | null> {
  const { n, x } = jwk ?? (await exportJWK(used as CryptoKey));
  const member = n ?? x;
  return member === undefined ? null : digest(member);
}

function kidOf(assertion: string): string | undefined {
  try {
    return decodeProtectedHeader(assertion).kid;
  } catch {
    return undefined;
  }
}

/** @param detail for the caller: depends only on the request and on public settings of the client */
function reject(reason: string, detail?: string): never {
  return refuse({ code: 'client-rejected', reason, ...(detail === undefined ? {} : { detail }) });
}
