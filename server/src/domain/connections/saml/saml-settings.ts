import { checkLogoutUri } from '../../clients/logout-uri.ts';
import { isLine } from '../../kernel/name.ts';
import { invalid } from '../../kernel/problem.ts';
import type { IdentityProvider } from '../../saml/messages/metadata.ts';
import { SamlError } from '../../saml/saml-error.ts';
import { lastExpiry, readCertificate } from '../../saml/security/certificate.ts';
import type { RequestedNameId, SamlSettings, SignedPart } from '../connection.entity.ts';
import { samlPresets } from '../guides.ts';
import { presetOf } from '../presets.ts';
import { maxCertificates, type ProviderMetadata } from './provider-metadata.ts';

const maxName = 255;

/** Settings as an admin gives them; absent ones stay. */
export interface SamlInput {
  metadataUrl?: string | null | undefined;
  metadataXml?: string | null | undefined;
  /** The metadata as read before, in place of a document: it is not fetched again. */
  provider?: IdentityProvider | undefined;
  /** In place of those of an uploaded document. */
  certificates?: readonly string[] | null | undefined;
  signed?: SignedPart | null | undefined;
  nameId?: RequestedNameId | null | undefined;
  emailAttribute?: string | null | undefined;
  vouchesForEmail?: boolean | null | undefined;
  allowsSha1?: boolean | null | undefined;
  allowsCbc?: boolean | null | undefined;
}

/** The metadata of an input. Refuses `invalid`. Null: none is given. Not in a transaction: it may call the provider. */
export async function metadataOf(
  { metadataUrl, metadataXml, provider }: SamlInput,
  metadata: ProviderMetadata,
  allowPrivateTargets: boolean,
): Promise<IdentityProvider | null> {
  if (metadataUrl && metadataXml) invalid('saml.metadataXml', 'must be absent beside metadataUrl');
  const field = metadataUrl ? 'saml.metadataUrl' : 'saml.metadataXml';
  if (metadataUrl) {
    const fault = checkLogoutUri(metadataUrl, allowPrivateTargets);
    if (fault) invalid(field, fault);
  }
  if (provider) return checkProvider(provider, metadata);
  if (!metadataUrl && !metadataXml) return null;
  const read = metadataUrl ? await metadata.at(metadataUrl) : metadata.parsed(metadataXml ?? '');
  if ('provider' in read) return read.provider;
  return read.fault === 'unreachable'
    ? invalid(field, `cannot be read: ${read.detail}`)
    : invalid(field, `is no metadata of an identity provider: ${read.detail}`);
}

/** Refuses `invalid` for metadata that cannot be used. */
export function checkProvider(provider: IdentityProvider, metadata: ProviderMetadata): IdentityProvider {
  const fault = metadata.faultOf(provider);
  return fault === null ? provider : invalid('saml.metadataXml', `is no metadata of an identity provider: ${fault}`);
}

/**
 * The settings of a new or changed connection. Refuses `invalid`, naming the field. The metadata of a new one may follow: the provider may
 * need our addresses first.
 *
 * @param provider the given metadata; null: unchanged
 * @param before of a connection that is changed
 */
export function checkedSaml(
  preset: string,
  input: SamlInput,
  provider: IdentityProvider | null,
  before: SamlSettings | undefined,
  now: Date,
): SamlSettings {
  const fixed = presetOf(preset);
  if (!samlPresets.includes(preset)) invalid('preset', `must be one of ${samlPresets.join(', ')}`);
  const from = provider ?? before ?? { entityId: '', ssoUrl: '' };
  const metadataUrl = provider ? (input.metadataUrl ?? null) : (before?.metadataUrl ?? null);
  if (metadataUrl !== null && input.certificates) {
    invalid('saml.certificates', 'must be absent: they are read from metadataUrl');
  }
  const given = input.certificates?.map(checkedCertificate) ?? null;
  const certificates = given ?? provider?.signingCertificates ?? before?.certificates ?? [];
  if (provider || given) checkCertificates(certificates, given ? 'saml.certificates' : 'saml.metadataXml', now);
  return {
    metadataUrl,
    entityId: from.entityId,
    ssoUrl: from.ssoUrl,
    certificates,
    signed: input.signed ?? before?.signed ?? 'either',
    nameId: input.nameId ?? before?.nameId ?? fixed.nameId ?? 'persistent',
    emailAttribute: checkedAttribute(input.emailAttribute, before?.emailAttribute ?? null),
    vouchesForEmail: input.vouchesForEmail ?? before?.vouchesForEmail ?? false,
    allowsSha1: input.allowsSha1 ?? before?.allowsSha1 ?? false,
    allowsCbc: input.allowsCbc ?? before?.allowsCbc ?? false,
  };
}

function checkCertificates(certificates: readonly string[], field: string, now: Date): void {
  if (certificates.length === 0) invalid(field, 'must have a certificate for signatures');
  if (certificates.length > maxCertificates) invalid(field, `must be at most ${maxCertificates}`);
  if (lastExpiry(certificates) <= now) invalid(field, 'has only certificates that have expired');
}

export function checkedCertificate(source: string, index: number): string {
  try {
    return readCertificate(source).pem;
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    const reason = error.reason === 'algorithm-refused' ? error.detail : 'is no X.509 certificate';
    return invalid(`saml.certificates[${index}]`, reason);
  }
}

function checkedAttribute(input: string | null | undefined, before: string | null): string | null {
  if (input === undefined || input === null) return before;
  if (input === '') return null;
  if (input.length > maxName || !isLine(input)) {
    invalid('saml.emailAttribute', `must be one line of 1 to ${maxName} characters`);
  }
  return input;
}
