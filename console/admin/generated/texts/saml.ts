// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const SamlIdentityProvider = "query SamlIdentityProvider($projectId:ID!){samlIdentityProvider(projectId:$projectId){entityId ssoUrl sloUrl certificates{id pem fingerprint expiresAt signsFrom publishedUntil}}}" as of.Operation<of.SamlIdentityProviderQuery, of.SamlIdentityProviderQueryVariables>;
export const SamlServiceProvider = "query SamlServiceProvider($projectId:ID!$metadata:String$metadataUrl:String){samlServiceProvider(projectId:$projectId metadata:$metadata metadataUrl:$metadataUrl){samlEntityId redirectUris samlCertificates samlEncryptionCertificate samlRequestsSigned samlLogoutUri samlLogoutResponseUri samlLogoutSoapUri}}" as of.Operation<of.SamlServiceProviderQuery, of.SamlServiceProviderQueryVariables>;
export const SamlClient = "query SamlClient($id:ID!){client(id:$id){id version samlEntityId samlNameId samlNameIdAttribute samlSigned samlCertificates samlEncryptionCertificate samlLogoutUri samlLogoutResponseUri samlLogoutSoapUri samlRequestsSigned samlIdpInitiated}}" as of.Operation<of.SamlClientQuery, of.SamlClientQueryVariables>;
export const RotateSamlKey = "mutation RotateSamlKey($projectId:ID!){rotateSamlKey(projectId:$projectId){entityId}}" as of.Operation<of.RotateSamlKeyMutation, of.RotateSamlKeyMutationVariables>;
