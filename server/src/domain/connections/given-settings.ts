import type { Clock } from '../kernel/clock.ts';
import { invalid } from '../kernel/problem.ts';
import {
  type Connection,
  type ConnectionKind,
  type ConnectionSettings,
  type OidcSettings,
  type SamlSettings,
  settingsOf,
} from './connection.entity.ts';
import { checkCompleteOidc, checkedOidc, type OidcInput } from './connection-settings.ts';
import { isOpen } from './presets.ts';
import type { ProviderMetadata } from './saml/provider-metadata.ts';
import { checkedSaml, checkProvider, metadataOf, type SamlInput } from './saml/saml-settings.ts';

/** Settings of the provider, of one kind. */
export interface SettingsInput {
  oidc?: (OidcInput & { clientSecret?: string | null | undefined }) | null | undefined;
  saml?: SamlInput | null | undefined;
}

/** Settings that were read from an input, to be applied in a transaction. */
export interface GivenSettings {
  kind: ConnectionKind;
  clientSecret: string | null;
  /** Whether a metadata document was read. */
  hasMetadata: boolean;
  /** Refuses `invalid`. @param before of a connection that is changed; its kind is that of the input */
  applied(preset: string, before?: ConnectionSettings): ConnectionSettings;
}

interface Reading {
  clock: Clock;
  metadata: ProviderMetadata;
  allowPrivateTargets: boolean;
}

type CheckedConnection = Pick<Connection, 'kind' | 'organizationId' | 'preset' | 'settings'>;

/** Refuses `invalid` if a value is missing that sign-ins need, or the provider of an organization is not its own. */
export function checkComplete(connection: CheckedConnection): void {
  if (connection.kind === 'oidc') {
    const settings = settingsOf(connection, 'oidc');
    checkCompleteOidc(settings);
    if (connection.organizationId != null) checkOwn(connection.preset, settings);
    return;
  }
  if (settingsOf(connection, 'saml').entityId === '') invalid('saml.metadataUrl', 'must be given, or metadataXml');
}

/** Its answers count for the addresses of the organization: it must not be a provider at which anyone can have an account. */
function checkOwn(preset: string, { hostedDomain, issuer }: OidcSettings): void {
  if (hostedDomain !== null || !isOpen(issuer)) return;
  if (preset === 'google')
    invalid('oidc.hostedDomain', 'must be given for an organization: anyone can have an account');
  invalid('oidc.issuer', 'must be of the organization: anyone can have an account at this one');
}

/**
 * The settings of a new connection, without its metadata unless the input has it as values. Refuses `invalid`, but not for
 * certificates that have expired: they are when it is stored.
 */
export function checkedSettings(
  kind: ConnectionKind,
  preset: string,
  { oidc, saml }: SettingsInput,
  { allowPrivateTargets, metadata }: Pick<Reading, 'allowPrivateTargets' | 'metadata'>,
): ConnectionSettings {
  if (kind === 'oidc') return checkedOidc(preset, oidc ?? {}, allowPrivateTargets);
  const { provider, ...rest } = saml ?? {};
  if (provider) checkProvider(provider, metadata);
  return checkedSaml(preset, rest, provider ?? null, undefined, new Date(0));
}

/** Null: the input has no settings of a provider. Not in a transaction: metadata may be fetched. Refuses `invalid`. */
export async function givenSettings(
  { oidc, saml }: SettingsInput,
  { allowPrivateTargets, clock, metadata }: Reading,
): Promise<GivenSettings | null> {
  if (oidc && saml) invalid('saml', 'must be absent beside oidc');
  if (oidc) {
    const { clientSecret = null, ...input } = oidc;
    const applied = (preset: string, before?: ConnectionSettings) =>
      checkedOidc(preset, input, allowPrivateTargets, before as OidcSettings | undefined);
    return { kind: 'oidc', clientSecret, hasMetadata: false, applied };
  }
  if (!saml) return null;
  const provider = await metadataOf(saml, metadata, allowPrivateTargets);
  const applied = (preset: string, before?: ConnectionSettings) =>
    checkedSaml(preset, saml, provider, before as SamlSettings | undefined, clock.now());
  return { kind: 'saml', clientSecret: null, hasMetadata: provider !== null, applied };
}
