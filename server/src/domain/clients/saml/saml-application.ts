import { refuse } from '../../kernel/problem.ts';
import type { Client } from '../client.entity.ts';
import { hasAppScheme } from '../redirect-uri.ts';

/** Whether the client is a SAML application. The endpoints of OpenID Connect refuse it. */
export function isSamlApplication({ samlEntityId }: { samlEntityId?: string | null }): boolean {
  return samlEntityId != null;
}

/** Refuses `invalid` if a SAML application has settings that only clients of OpenID Connect use, or lacks some of its own. */
export function checkSamlApplication(client: Partial<Client>): void {
  if (client.samlEntityId == null) return;
  const { adminScopes, grantTypes, jwk, jwkSet, jwksUri, redirectUris = [], samlCertificates = [] } = client;
  const isForeign: [field: string, is: boolean][] = [
    ['tokenEndpointAuthMethod', client.tokenEndpointAuthMethod !== 'none'],
    ['grantTypes', grantTypes !== undefined && grantTypes.some((grant) => grant !== 'authorization_code')],
    ['jwks', jwk != null || jwkSet != null],
    ['jwksUri', jwksUri != null],
    ['adminScopes', (adminScopes ?? []).length > 0],
    ['thirdParty', client.thirdParty === true],
    ['fapiProfile', client.fapiProfile === true],
    ['pushedRequestsRequired', client.pushedRequestsRequired === true],
    ['backchannelLogoutUri', client.backchannelLogoutUri != null],
  ];
  const foreign = isForeign.find(([, is]) => is)?.[0];
  if (foreign !== undefined) refuse({ code: 'invalid', field: foreign, reason: 'is not for SAML applications' });
  const app = redirectUris.findIndex(hasAppScheme);
  if (app >= 0)
    refuse({ code: 'invalid', field: `redirectUris[${app}]`, reason: 'must be https, for a SAML application' });
  if (client.samlNameId === 'attribute' && client.samlNameIdAttribute == null) {
    refuse({ code: 'invalid', field: 'samlNameIdAttribute', reason: 'is required' });
  }
  if (client.samlLogoutResponseUri != null && client.samlLogoutUri == null) {
    refuse({ code: 'invalid', field: 'samlLogoutUri', reason: 'is required' });
  }
  if (samlCertificates.length > 0) return;
  if (client.samlRequestsSigned) {
    refuse({ code: 'invalid', field: 'samlCertificates', reason: 'is required for signed requests' });
  }
  if (client.samlLogoutUri != null) {
    refuse({ code: 'invalid', field: 'samlCertificates', reason: 'is required for logout: its requests are signed' });
  }
}

/** Refuses `invalid` if a change would turn an application into one of the other kind. */
export function checkSameKind(before: Partial<Client>, after: Partial<Client>): void {
  if ((before.samlEntityId == null) === (after.samlEntityId == null)) return;
  refuse({ code: 'invalid', field: 'samlEntityId', reason: 'cannot be added or removed: create another application' });
}
