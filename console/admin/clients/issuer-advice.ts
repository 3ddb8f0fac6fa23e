import { t } from '../language/language.ts';
import type { Client } from './client-part.ts';
import { hasSecret } from './kind.ts';

/** The issuer that the application needs, in one sentence. */
export function issuerAdvice(client: Client): string {
  const reason = reasonForProjectIssuer(client);
  return reason === undefined
    ? t('Use either issuer; the project issuer offers more, such as client secrets and RS256.')
    : t('Use the project issuer: this application {reason}.', { reason });
}

/** Whether only the project issuer fits. */
export function needsProjectIssuer(client: Client): boolean {
  return reasonForProjectIssuer(client) !== undefined;
}

/** The reason why only the project issuer fits; undefined: both do. */
function reasonForProjectIssuer(client: Client): string | undefined {
  if (client.fapiProfile || client.pushedRequestsRequired) return t('pushes its requests');
  if (hasSecret(client.tokenEndpointAuthMethod)) return t('authenticates with a client secret');
  if (client.idTokenSignedResponseAlg !== 'ES512') return t('expects a signature other than ES512');
  if (client.grantTypes.includes('DEVICE_CODE')) return t('signs in devices');
  if (client.grantTypes.includes('REFRESH_TOKEN')) return t('uses refresh tokens');
  if (client.grantTypes.includes('CLIENT_CREDENTIALS')) return t('acts for itself');
  if (client.tokenEndpointAuthMethod === 'NONE') return undefined;
  if (client.pkceOptional) return t('may sign in without PKCE');
  return client.jwksUri !== null || !isEd25519(client.jwks) ? t('uses keys other than one Ed25519 key') : undefined;
}

function isEd25519(jwks: unknown): boolean {
  const { keys = [] } = (jwks ?? {}) as { keys?: { crv?: string }[] };
  return keys.length === 1 && keys[0]?.crv === 'Ed25519';
}
