import {
  type Connection,
  type ConnectionKind,
  connectionKinds,
  requestedNameIds,
  settingsOf,
  signedParts,
} from '../connections/connection.entity.ts';
import { checkedProfileMappings, checkedRoleMappings, defaultMappings } from '../connections/connection-settings.ts';
import type { Connections } from '../connections/connections.ts';
import type { SettingsInput } from '../connections/given-settings.ts';
import { checkedCertificate } from '../connections/saml/saml-settings.ts';
import { cleanName } from '../kernel/name.ts';
import { invalid, Refusal } from '../kernel/problem.ts';
import type { IdentityProvider } from '../saml/messages/metadata.ts';
import { flagIn, listIn, textIn, type Values } from './values.ts';

/** What a provider publishes about itself. A document has it only where no `metadataUrl` is. */
const published = ['entityId', 'ssoUrl', 'certificates'] as const;

const settingNames = {
  oidc: ['issuer', 'clientId', 'scopes', 'hostedDomain'],
  saml: [
    ...['metadataUrl', ...published, 'signed', 'nameId', 'emailAttribute'],
    ...['vouchesForEmail', 'allowsSha1', 'allowsCbc'],
  ],
} as const;

/** The settings of the provider, by kind. */
export const providerNames = (kind: ConnectionKind): readonly string[] => settingNames[kind];

/** Those of both kinds; a connection has those of its own. */
export const connectionNames: readonly string[] = [
  ...['name', 'kind', 'preset', 'enabled', 'jit', 'refreshesProfile', 'mappings', 'roleMappings'],
  ...settingNames.oidc,
  ...settingNames.saml,
  'secret',
];

/** The validator of the admin API. */
export type ConnectionChecks = Pick<Connections, 'check'>;

/** As stored. Refuses `invalid`. @param kept stores a secret, and returns its digest */
export function checkedConnection(
  values: Values,
  connections: ConnectionChecks,
  kept: (secret: string) => string,
): Values {
  const kind = textIn(values, 'kind') as ConnectionKind | null;
  if (kind === null || !connectionKinds.includes(kind)) invalid('kind', `must be one of ${connectionKinds.join(', ')}`);
  const preset = textIn(values, 'preset') ?? invalid('preset', 'must be given');
  const other = settingNames[kind === 'oidc' ? 'saml' : 'oidc'].find((name) => name in values);
  if (other) invalid(other, `is no setting of the kind ${kind}`);
  const secret = textIn(values, 'secret');
  if (secret !== null && kind === 'saml') invalid('secret', 'is no setting of the kind saml');
  return {
    ...{ name: cleanName(textIn(values, 'name') ?? ''), kind, preset, enabled: flagIn(values, 'enabled', false) },
    ...{ jit: flagIn(values, 'jit', false), refreshesProfile: flagIn(values, 'refreshesProfile', false) },
    mappings: checkedProfileMappings(values['mappings'] ?? defaultMappings),
    roleMappings: checkedRoleMappings(values['roleMappings'] ?? {}),
    ...settingValues(
      kind,
      unprefixed(() => connections.check(kind, preset, settingsInput(kind, values))),
    ),
    // The metadata is not read yet.
    ...(kind === 'saml' && { metadataUrl: textIn(values, 'metadataUrl') }),
    ...(secret !== null && { secret: kept(secret) }),
  };
}

/** The settings of a stored connection. @param secret digest of its client secret */
export function connectionValues(connection: Connection, secret: string | null): Values {
  const { name, kind, preset, state, jit, refreshesProfile, mappings, roleMappings } = connection;
  return {
    ...{ name, kind, preset, enabled: state === 'enabled', jit, refreshesProfile, mappings },
    roleMappings: roleMappings ?? null,
    ...settingValues(kind, settingsOf(connection, kind)),
    ...(kind === 'oidc' && { secret }),
  };
}

/** Values that are not given yet are empty in the database, and null in documents. */
function settingValues(kind: ConnectionKind, settings: object): Values {
  const all = settings as Values;
  // Read from the address, or not given yet.
  const isUnwritten = kind === 'saml' && (all['metadataUrl'] != null || all['entityId'] === '');
  const isAbsent = (name: string) =>
    all[name] === '' || (isUnwritten && (published as readonly string[]).includes(name));
  return Object.fromEntries(settingNames[kind].map((name) => [name, isAbsent(name) ? null : (all[name] ?? null)]));
}

/**
 * The settings as an input of the admin API. Refuses `invalid`.
 *
 * @param provider the metadata at `metadataUrl`; absent: unchanged, or not read yet
 */
export function settingsInput(kind: ConnectionKind, values: Values, provider?: IdentityProvider): SettingsInput {
  if (kind === 'oidc') {
    const scopes = values['scopes'] == null ? undefined : listIn(values, 'scopes');
    const hostedDomain = textIn(values, 'hostedDomain') ?? '';
    return { oidc: { issuer: textIn(values, 'issuer'), clientId: textIn(values, 'clientId'), scopes, hostedDomain } };
  }
  const metadataUrl = textIn(values, 'metadataUrl');
  return {
    saml: {
      ...{ metadataUrl: provider ? metadataUrl : null, provider: provider ?? writtenProvider(values, metadataUrl) },
      ...{ signed: choiceIn(values, 'signed', signedParts), nameId: choiceIn(values, 'nameId', requestedNameIds) },
      emailAttribute: textIn(values, 'emailAttribute') ?? '',
      ...{ vouchesForEmail: flagIn(values, 'vouchesForEmail', false), allowsSha1: flagIn(values, 'allowsSha1', false) },
      allowsCbc: flagIn(values, 'allowsCbc', false),
    },
  };
}

/** The metadata that a document has as values. Undefined: none. Refuses `invalid` for a part of it. */
function writtenProvider(values: Values, metadataUrl: string | null): IdentityProvider | undefined {
  const given = published.filter((name) => values[name] != null);
  if (metadataUrl !== null) {
    const [name] = given;
    return name && invalid(name, 'must be absent: it is read from metadataUrl');
  }
  if (given.length === 0) return undefined;
  const missing = published.find((name) => !given.includes(name));
  if (missing) invalid(missing, 'must be given, with entityId, ssoUrl and certificates, or metadataUrl');
  return {
    ...{ entityId: textIn(values, 'entityId') ?? '', ssoUrl: textIn(values, 'ssoUrl') ?? '' },
    signingCertificates: unprefixed(() => listIn(values, 'certificates').map(checkedCertificate)),
    ...{ sloUrl: undefined, wantsRequestsSigned: false },
  };
}

function choiceIn<T extends string>(values: Values, name: string, all: readonly T[]): T | null {
  const value = textIn(values, name);
  if (value !== null && !(all as readonly string[]).includes(value)) invalid(name, `must be one of ${all.join(', ')}`);
  return value as T | null;
}

/** A refusal with the name of the setting in documents, which have those of the provider beside the others. */
export function inDocument(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.problem.code !== 'invalid') return error;
  const { field, reason } = error.problem;
  const name = field
    .replace(/^(?:oidc|saml)\./, '')
    .replace(/^metadataXml$/, 'entityId')
    .replace('clientSecret', 'secret');
  return new Refusal({ code: 'invalid', field: name, reason });
}

function unprefixed<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw inDocument(error);
  }
}
