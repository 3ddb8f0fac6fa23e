import { bindings, nameIdFormats, ns } from '../names.ts';
import { SamlError } from '../saml-error.ts';
import { readCertificate } from '../security/certificate.ts';
import { keyInfo } from '../security/sign.ts';
import { attribute, children, descendants, type Element, required, text } from '../xml/element.ts';
import { read } from '../xml/reader.ts';
import { type Markup, markup } from '../xml/write.ts';
import { isTrue } from './authn-request.ts';

/** The metadata of our identity provider (SAML Metadata section 2.4.3). @param certificates the signing one first */
export function idpMetadata(
  { entityId, ssoUrl, sloUrl }: { entityId: string; ssoUrl: string; sloUrl: string | null },
  certificates: readonly Uint8Array[],
): Markup {
  const at = (name: string, url: string) =>
    [bindings.redirect, bindings.post].map(
      (binding) => markup`<${{ xml: name }} Binding="${binding}" Location="${url}"/>`,
    );
  const keys = certificates.map((one) => markup`<md:KeyDescriptor use="signing">${keyInfo(one)}</md:KeyDescriptor>`);
  const formats = [nameIdFormats.persistent, nameIdFormats.email, nameIdFormats.transient].map(
    (format) => markup`<md:NameIDFormat>${format}</md:NameIDFormat>`,
  );
  return markup`<md:EntityDescriptor xmlns:md="${ns.metadata}" entityID="${entityId}"><md:IDPSSODescriptor protocolSupportEnumeration="${ns.protocol}">${keys}${sloUrl === null ? [] : at('md:SingleLogoutService', sloUrl)}${formats}${at('md:SingleSignOnService', ssoUrl)}</md:IDPSSODescriptor></md:EntityDescriptor>`;
}

/**
 * The metadata of our service provider at one identity provider (SAML Metadata section 2.4.4). Its keys are for signatures and encryption.
 *
 * @param certificates the signing one first
 */
export function spMetadata(
  { entityId, acsUrls, wantsAssertionsSigned }: OwnServiceProvider,
  certificates: readonly Uint8Array[],
): Markup {
  const keys = certificates.map((one) => markup`<md:KeyDescriptor>${keyInfo(one)}</md:KeyDescriptor>`);
  const acs = acsUrls.map(
    (url, index) =>
      markup`<md:AssertionConsumerService Binding="${bindings.post}" Location="${url}" index="${String(index)}" isDefault="${String(index === 0)}"/>`,
  );
  return markup`<md:EntityDescriptor xmlns:md="${ns.metadata}" entityID="${entityId}"><md:SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="${String(wantsAssertionsSigned)}" protocolSupportEnumeration="${ns.protocol}">${keys}<md:NameIDFormat>${nameIdFormats.persistent}</md:NameIDFormat>${acs}</md:SPSSODescriptor></md:EntityDescriptor>`;
}

interface OwnServiceProvider {
  entityId: string;
  /** The default first. */
  acsUrls: readonly string[];
  wantsAssertionsSigned: boolean;
}

/** The metadata of a service provider. */
export interface ServiceProvider {
  entityId: string;
  /** HTTP-POST endpoints, the default first. */
  acsUrls: string[];
  /** PEM, for signatures of requests. */
  signingCertificates: string[];
  encryptionCertificates: string[];
  signsRequests: boolean;
  wantsAssertionsSigned: boolean;
  nameIdFormats: string[];
  sloUrl: string | undefined;
  /** Where responses go, if not to `sloUrl`. */
  sloResponseUrl: string | undefined;
  sloSoapUrl: string | undefined;
}

/** Reads the metadata of one service provider. Its signature, if any, is not checked: an admin vouches for the file. */
export function readServiceProvider(source: Uint8Array | string): ServiceProvider {
  const { entityId, role } = descriptor(source, 'SPSSODescriptor');
  const acs = children(role, ns.metadata, 'AssertionConsumerService')
    .filter((one) => attribute(one, 'Binding') === bindings.post)
    .sort((a, b) => rank(a) - rank(b));
  return {
    entityId,
    acsUrls: acs.map((one) => attribute(one, 'Location') ?? ''),
    ...certificatesOf(role),
    signsRequests: isTrue(attribute(role, 'AuthnRequestsSigned')),
    wantsAssertionsSigned: isTrue(attribute(role, 'WantAssertionsSigned')),
    nameIdFormats: children(role, ns.metadata, 'NameIDFormat').map(text),
    sloUrl: locationOf(role, 'SingleLogoutService'),
    sloResponseUrl: attributeOf(role, 'SingleLogoutService', bindings.redirect, 'ResponseLocation'),
    sloSoapUrl: attributeOf(role, 'SingleLogoutService', bindings.soap, 'Location'),
  };
}

/** The default first, then by index. */
function rank(acs: Element): number {
  return isTrue(attribute(acs, 'isDefault')) ? -1 : Number(attribute(acs, 'index') ?? 0);
}

/** The metadata of an identity provider. */
export interface IdentityProvider {
  entityId: string;
  ssoUrl: string;
  sloUrl: string | undefined;
  signingCertificates: string[];
  wantsRequestsSigned: boolean;
}

export function readIdentityProvider(source: Uint8Array | string): IdentityProvider {
  const { entityId, role } = descriptor(source, 'IDPSSODescriptor');
  const ssoUrl = locationOf(role, 'SingleSignOnService');
  if (ssoUrl === undefined) throw new SamlError('malformed', 'no SingleSignOnService with HTTP-Redirect');
  return {
    entityId,
    ssoUrl,
    sloUrl: locationOf(role, 'SingleLogoutService'),
    signingCertificates: certificatesOf(role).signingCertificates,
    wantsRequestsSigned: isTrue(attribute(role, 'WantAuthnRequestsSigned')),
  };
}

function descriptor(source: Uint8Array | string, name: string): { entityId: string; role: Element } {
  const root = read(source, { isMetadata: true });
  const [entity, another] = descendants(root, ns.metadata, 'EntityDescriptor');
  if (!entity || another) throw new SamlError('malformed', 'not exactly one EntityDescriptor');
  const entityId = attribute(entity, 'entityID') ?? '';
  if (entityId === '' || entityId.length > 1024) throw new SamlError('malformed', 'entityID');
  return { entityId, role: required(entity, ns.metadata, name) };
}

/** A descriptor without `use` is for both. */
function certificatesOf(role: Element) {
  const found = children(role, ns.metadata, 'KeyDescriptor').map((one) => ({
    use: attribute(one, 'use'),
    pems: descendants(one, ns.signature, 'X509Certificate').map(
      (certificate) => readCertificate(text(certificate)).pem,
    ),
  }));
  const of = (use: string) => found.filter((one) => one.use !== use).flatMap(({ pems }) => pems);
  return { signingCertificates: of('encryption'), encryptionCertificates: of('signing') };
}

function locationOf(role: Element, name: string): string | undefined {
  return attributeOf(role, name, bindings.redirect, 'Location');
}

function attributeOf(role: Element, name: string, binding: string, of: 'Location' | 'ResponseLocation') {
  const endpoint = children(role, ns.metadata, name).find((one) => attribute(one, 'Binding') === binding);
  return endpoint && attribute(endpoint, of);
}
