import { t } from '../language/language.ts';

/** By reason of the API: what to check. */
const advice: Record<string, string> = {
  denied: t('Cancelled, or the account may not use the application there.'),
  'provider-error': t('Check scopes and grants of the application at the provider.'),
  unreachable: t('No answer in 5 seconds, or a redirect. Check the network between both servers.'),
  discovery: t('Check the issuer, also its last slash, and that this server reaches it.'),
  response: t('The sign-in took too long, or its answer was for another issuer.'),
  'token-endpoint': t('Check client ID, client secret and redirect URI.'),
  signature: t('Not signed by a key or certificate of the provider, or by a refused algorithm.'),
  issuer: t('The answer names another issuer or entity ID.'),
  audience: t('The answer is for another application. Check the client ID, or our entity ID there.'),
  time: t('Check the clocks of both servers: at most 60 seconds apart.'),
  decryption: t('Encrypt assertions with AES-GCM and RSA-OAEP, for a certificate of our metadata.'),
  recipient: t('Check the ACS URL at the provider.'),
  replayed: t('The provider sent the same assertion twice.'),
  nonce: t('The answer belongs to another request.'),
  subject: t('The answer has no usable sub or NameID.'),
  tenant: t('The account is not of the domain that the connection requires.'),
  userinfo: t('The UserInfo endpoint failed, or answered about another account.'),
  busy: t('Too many sign-ins wait for the provider.'),
};

export const adviceFor = (reason: string): string => advice[reason] ?? '';
