import { type Fragment, sql } from '../kernel/sql.ts';
import type { CheckedAssertion } from './assertions/client-assertions.ts';
import type { CheckedClient } from './client-registry.ts';

const kinds = { 'client-secret': 'secret', secret: 'api-key', publishable: 'api-key' } as const;

/**
 * The credential with which a client obtains a token, as stored with the token: its kind and SHA-256. Null: none, for a public
 * client, or a key that was read from `jwks_uri`, whose end this server cannot detect.
 */
export function obtainedWith({ key, assertion }: CheckedClient & { assertion?: CheckedAssertion | undefined }) {
  if (key) return `${kinds[key.kind]}:${key.keyHash}`;
  if (assertion?.workloadHash !== undefined) return `workload:${assertion.workloadHash}`;
  return assertion?.keyHash == null ? null : `key:${assertion.keyHash}`;
}

/** SQL: the SHA-256 of a text, in base64url. */
const hashOf = (text: Fragment): Fragment =>
  sql`translate(rtrim(encode(sha256(convert_to(${text}, 'UTF8')), 'base64'), '='), '+/', '-_')`;

/** SQL: the SHA-256 by which a registered key is stored with tokens. @param jwk a value of type jsonb */
const keyHash = (jwk: Fragment): Fragment => hashOf(sql`coalesce(${jwk} ->> 'n', ${jwk} ->> 'x')`);

/** SQL: the SHA-256 of the rule for a workload of client `k` (`workload-tokens.ts`). */
const workloadHash = hashOf(sql`concat_ws(chr(10), k.workload_issuer, k.workload_subject, k.workload_audience)`);

/** SQL: further columns of client `k` that {@link isOfLiveCredential} needs. */
export const credentialColumns: Fragment = sql`, k.jwk, k.jwk_set, k.workload_issuer, k.workload_subject, k.workload_audience`;

/**
 * SQL condition: the credential that obtained access token `t` of client `k` is live. Checked at each use, so that a token
 * ends with its secret or key, also one that is issued while the credential is revoked (decisions/0333). True for tokens
 * without one.
 */
export const isOfLiveCredential: Fragment = sql`case when t.credential is null then true else case split_part(t.credential, ':', 1)
  when 'secret' then exists (select 1 from client_secrets s where s.project_id = k.project_id and s.client_id = k.id
    and s.hash = split_part(t.credential, ':', 2) and s.revoked_at is null)
  when 'api-key' then exists (select 1 from api_keys s where s.project_id = k.project_id and s.client_id = k.id
    and s.hash = split_part(t.credential, ':', 2) and s.revoked_at is null)
  when 'key' then exists (select 1 from jsonb_array_elements(coalesce(k.jwk_set, jsonb_build_array(k.jwk))) j
    where ${keyHash(sql`j`)} = split_part(t.credential, ':', 2))
  when 'workload' then ${workloadHash} = split_part(t.credential, ':', 2)
  else true end end`;
