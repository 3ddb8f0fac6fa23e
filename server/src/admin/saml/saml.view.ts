import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { boolean, fields, id, list, nullable, object, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('SamlCertificate', { description: 'A certificate that a project signs SAML messages with.' })
class SamlCertificateView extends fields({
  id: id(),
  pem: text(),
  fingerprint: text('SHA-256.'),
  expiresAt: time(),
  signsFrom: time('It is in the metadata before that time.'),
  publishedUntil: nullable(time('Absent without a successor.')),
}) {}

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('SamlIdentityProvider', {
  description: 'A project as SAML identity provider: the values that applications ask for.',
})
export class SamlIdentityProviderView extends fields({
  entityId: text('Also the address of its metadata.'),
  ssoUrl: text('SingleSignOnService, for HTTP-Redirect and HTTP-POST.'),
  sloUrl: text('SingleLogoutService, for HTTP-Redirect and HTTP-POST.'),
  certificates: list(object(SamlCertificateView, 'The signing one first.')),
}) {}

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('SamlServiceProvider', { description: 'The metadata of a SAML application, as settings of a client.' })
export class SamlServiceProviderView extends fields({
  samlEntityId: text(),
  redirectUris: list(text('ACS URLs, the default first.')),
  samlCertificates: list(text()),
  samlEncryptionCertificate: nullable(text()),
  samlRequestsSigned: boolean(),
  samlLogoutUri: nullable(text()),
  samlLogoutResponseUri: nullable(text('Where responses go, if not to `samlLogoutUri`.')),
  samlLogoutSoapUri: nullable(text()),
}) {}
