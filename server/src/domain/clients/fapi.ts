import { refuse } from '../kernel/problem.ts';
import type { Client } from './client.entity.ts';

/** Signature algorithms of client assertions and DPoP proofs (FAPI 2.0 Security Profile section 5.4.1). */
export const fapiAlgorithms = ['PS256', 'ES256', 'EdDSA', 'Ed25519'];

/**
 * Refuses `invalid` if settings of the client contradict the FAPI 2.0 Security Profile, which applies to it. Rules
 * about requests are checked at each request.
 */
export function checkFapi(client: Partial<Client>): void {
  const { grantTypes = [], redirectUris = [], idTokenSignedResponseAlg: alg = 'ES512' } = client;
  if (!client.fapiProfile) return;
  const fault = (field: string, reason: string) => refuse({ code: 'invalid', field, reason });
  if (client.tokenEndpointAuthMethod !== 'private_key_jwt') {
    fault('tokenEndpointAuthMethod', 'must be private_key_jwt with the FAPI 2.0 Security Profile');
  }
  if (!fapiAlgorithms.includes(alg)) {
    fault('idTokenSignedResponseAlg', 'must be ES256 or EdDSA with the FAPI 2.0 Security Profile');
  }
  if (grantTypes.includes('device_code')) {
    fault('grantTypes', 'must not contain device_code with the FAPI 2.0 Security Profile');
  }
  if (redirectUris.some((uri) => !uri.startsWith('https:'))) {
    fault('redirectUris', 'must be https with the FAPI 2.0 Security Profile');
  }
}
