import type { Snippet } from '../../ui/code/snippets.tsx';
import {
  clientIdOf,
  issuerOf,
  keyAlgorithmOf,
  proofOf,
  redirectOf,
  type SnippetValues,
  scopesOf,
  signatureOf,
} from './values.ts';

/** The settings that any OpenID Connect library asks for. */
export function otherLibraries(values: SnippetValues): Snippet {
  const issuer = issuerOf(values);
  const proof = {
    none: 'Client authentication  none (public client)',
    secret: 'Client secret          lk_cs_…, shown at creation',
    key: `Client authentication  private_key_jwt, signed with ${keyAlgorithmOf(values) === 'Ed25519' ? 'EdDSA' : keyAlgorithmOf(values)}`,
  }[proofOf(values)];
  return {
    label: 'OpenID Connect',
    code: `Issuer                 ${issuer}
Discovery              ${issuer}/.well-known/openid-configuration
Client ID              ${clientIdOf(values)}
${proof}
Redirect URI           ${redirectOf(values)}
Scopes                 ${scopesOf(values.client)}
Response type          code, with PKCE (S256)
ID token signature     ${signatureOf(values)}

Without discovery:
Authorization endpoint ${issuer}/authorize
Token endpoint         ${issuer}/oauth2/token
UserInfo endpoint      ${issuer}/userinfo
Keys (JWKS)            ${issuer}/.well-known/jwks.json
Logout endpoint        ${issuer}/oauth2/end_session`,
  };
}
