import { type Checking, checkedBy } from '../kernel/resource.ts';
import { mayOmitPkce, needsPush } from '../policy/client.ts';
import type { Issuer } from '../projects/issuer.ts';
import type { Client } from './client.entity.ts';
import { type ClientSettings, clientFields } from './client.resource.ts';
import { parseClientKeys } from './client-keys.ts';

/** The given settings in their stored form. Refuses `invalid`. */
export function checkedSettings(input: Partial<ClientSettings>, checking: Checking): Partial<Client> {
  return {
    ...checkedBy(clientFields, input, checking),
    ...(input.jwks === undefined ? {} : keysOf(input.jwks)),
    ...(input.disabled === undefined ? {} : { disabledAt: input.disabled ? checking.now : null }),
  };
}

/** A single Ed25519 key is `jwk`, as the contract specifies; all else is `jwkSet`. */
function keysOf(jwks: unknown): Pick<Client, 'jwk' | 'jwkSet'> {
  if (jwks === null) return { jwk: null, jwkSet: null };
  const [first, ...others] = parseClientKeys(jwks);
  const isSingle = others.length === 0 && first?.kty === 'OKP';
  return isSingle ? { jwk: first, jwkSet: null } : { jwk: null, jwkSet: [...(first ? [first] : []), ...others] };
}

/** Whether an application with these settings can sign in at an issuer. */
export function fitsIssuer(client: Client, { capabilities }: Pick<Issuer, 'capabilities'>): boolean {
  const isPublic = client.tokenEndpointAuthMethod === 'none';
  return (
    capabilities.authMethods.includes(client.tokenEndpointAuthMethod) &&
    capabilities.idTokenAlgorithms.includes(client.idTokenSignedResponseAlg) &&
    client.grantTypes.every((grant) => capabilities.grantTypes.includes(grant)) &&
    (capabilities.pushedRequests || !needsPush(client)) &&
    (capabilities.optionalPkce || !mayOmitPkce(client)) &&
    // The base issuer verifies assertions with one Ed25519 key.
    (capabilities.assertionAlgorithms.length > 1 || isPublic || (client.jwk ?? null) !== null)
  );
}
