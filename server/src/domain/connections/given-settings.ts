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
import type { ProviderMetadata } from './saml/provider-metadata.ts';
import { checkedSaml, metadataOf, type SamlInput } from './saml/saml-settings.ts';

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

/** Refuses `invalid` if a value is missing that sign-ins need. */
export function checkComplete(connection: Pick<Connection, 'kind' | 'settings'>): void {
  if (connection.kind === 'oidc') return checkCompleteOidc(settingsOf(connection, 'oidc'));
  if (settingsOf(connection, 'saml').entityId === '') invalid('saml.metadataUrl', 'must be given, or metadataXml');
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
