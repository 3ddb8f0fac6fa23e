import type { ClientPartProps } from '../clients/client-part.ts';
import type { SamlClientQuery, UpdateClientInput } from '../generated/operations.ts';
import { tidy } from '../ui/forms/list-field.tsx';
import { certificatesIn } from './certificates.ts';

export type SamlClient = NonNullable<SamlClientQuery['client']>;

/** Settings of a SAML application, as its page edits them. */
export const valuesOf = (client: ClientPartProps['client'], saml: SamlClient) => ({
  name: client.name,
  logoId: client.logoId ?? '',
  startUri: client.startUri ?? '',
  samlEntityId: saml.samlEntityId ?? '',
  samlMetadataUrl: saml.samlMetadataUrl ?? '',
  redirectUris: client.redirectUris,
  samlNameId: saml.samlNameId,
  samlNameIdAttribute: saml.samlNameIdAttribute ?? '',
  samlSigned: saml.samlSigned,
  samlCertificates: saml.samlCertificates.join('\n'),
  samlEncryptionCertificate: saml.samlEncryptionCertificate ?? '',
  samlLogoutUri: saml.samlLogoutUri ?? '',
  samlLogoutResponseUri: saml.samlLogoutResponseUri ?? '',
  samlLogoutSoapUri: saml.samlLogoutSoapUri ?? '',
  samlRequestsSigned: saml.samlRequestsSigned,
  samlIdpInitiated: saml.samlIdpInitiated,
});

export type Values = ReturnType<typeof valuesOf>;

const clearable = [
  ...(['logoId', 'startUri', 'samlNameIdAttribute', 'samlEncryptionCertificate'] as const),
  ...(['samlMetadataUrl', 'samlLogoutUri', 'samlLogoutResponseUri', 'samlLogoutSoapUri'] as const),
] as const;

/** The input of the API: an empty text clears a setting. */
export function inputOf(edits: Partial<Values>): Omit<UpdateClientInput, 'id' | 'expectedVersion'> {
  const { samlCertificates, redirectUris, samlEntityId, ...others } = edits;
  const cleared = clearable.flatMap((name) => {
    const value = edits[name];
    return value === undefined ? [] : [[name, value.trim() || null]];
  });
  return {
    ...others,
    ...(Object.fromEntries(cleared) as object),
    ...(samlEntityId === undefined ? {} : { samlEntityId: samlEntityId.trim() }),
    ...(redirectUris === undefined ? {} : { redirectUris: tidy(redirectUris) }),
    ...(samlCertificates === undefined ? {} : { samlCertificates: certificatesIn(samlCertificates) }),
  };
}
