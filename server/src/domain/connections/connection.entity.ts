import { defineEntity, p } from '@mikro-orm/core';
import { metadataFaults } from '../clients/saml/saml.resource.ts';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

export const connectionKinds = ['oidc', 'saml'] as const;
export type ConnectionKind = (typeof connectionKinds)[number];

/** Only an enabled connection is offered to users; a `draft` or `tested` one can be tested. */
export const connectionStates = ['draft', 'tested', 'enabled', 'disabled'] as const;
export type ConnectionState = (typeof connectionStates)[number];

/** Settings of an OpenID Connect provider. */
export interface OidcSettings {
  /** As in its discovery document. Empty: not given yet; the connection cannot be tested or enabled. */
  issuer: string;
  /** Empty: not given yet, as for the issuer. */
  clientId: string;
  scopes: string[];
  /** The Google Workspace domain (`hd`) that its users must have; null: any account. */
  hostedDomain: string | null;
}

/** The parts of a response that must be signed; `either`: at least one of them. */
export const signedParts = ['either', 'assertion', 'response', 'both'] as const;
export type SignedPart = (typeof signedParts)[number];

/** NameID formats that a request can ask for; `any`: as the provider is configured. */
export const requestedNameIds = ['persistent', 'email', 'any'] as const;
export type RequestedNameId = (typeof requestedNameIds)[number];

/** Settings of a SAML identity provider. */
export interface SamlSettings {
  /** Where its metadata is read daily; null: an admin uploads it. */
  metadataUrl: string | null;
  /** Of the provider, as in its metadata. Only an admin changes it. Empty: no metadata yet; it cannot be tested or enabled. */
  entityId: string;
  ssoUrl: string;
  /** PEM. Each of them that has not expired may sign. */
  certificates: string[];
  signed: SignedPart;
  nameId: RequestedNameId;
  /** The attribute with the address; null: one with a usual name, or a NameID with the format of an address. */
  emailAttribute: string | null;
  /** Whether addresses count as verified, so that users can be created without a code. */
  vouchesForEmail: boolean;
  allowsSha1: boolean;
  /** AES-CBC for encrypted assertions. */
  allowsCbc: boolean;
}

interface SettingsOf {
  oidc: OidcSettings;
  saml: SamlSettings;
}
export type ConnectionSettings = SettingsOf[ConnectionKind];

/** The settings of a connection that is of this kind. */
export function settingsOf<Kind extends ConnectionKind>(
  { kind, settings }: Pick<Connection, 'kind' | 'settings'>,
  expected: Kind,
): SettingsOf[Kind] {
  if (kind !== expected) throw new Error(`not a connection of the kind ${expected}`);
  return settings as SettingsOf[Kind];
}

/** Reasons why the metadata of a SAML provider was not applied. */

/** Attributes of a user that claims of the provider can set. */
export const mappedAttributes = ['givenName', 'familyName', 'displayName', 'locale'] as const;
export type MappedAttribute = (typeof mappedAttributes)[number];
/** The claim of each attribute; an attribute without one is not set. */
export type ProfileMappings = Partial<Record<MappedAttribute, string>>;

/** Roles in the organization of a connection, by values that the provider sends, such as groups. */
export interface RoleMappings {
  /** A claim or attribute with one value or several. */
  claim: string;
  /** The key of the role of each value. */
  roles: Record<string, string>;
}

/** Vault purpose of {@link Connection.sealedSecret}. */
export const connectionSecretPurpose = 'connection-secret';

const schema = defineEntity({
  name: 'Connection',
  tableName: 'connections',
  properties: {
    project: tenant,
    id: key(),
    /** The organization that it belongs to; null: the project. A foreign key of the database. */
    organizationId: p.uuid().nullable(),
    kind: p.enum(connectionKinds),
    /** See `presets.ts`; it fixes some settings. */
    preset: p.text(),
    /** Shown on the sign-in page. */
    name: p.text(),
    state: p.enum(connectionStates),
    settings: p.json<ConnectionSettings>(),
    /** The client secret, sealed by the vault for this row. Null: the provider needs none. */
    sealedSecret: p.blob().nullable(),
    /** Whether a subject without an account gets one, if the address may sign up. */
    jit: p.boolean(),
    /** Whether each sign-in updates the profile; else only the one that creates the account. */
    refreshesProfile: p.boolean(),
    /** OpenID Connect only: whether applications get tokens for identity assertions of its issuer (decisions/0425). */
    acceptsAssertions: p.boolean().default(false),
    mappings: p.json<ProfileMappings>(),
    /** Connections of organizations only; null: sign-ins change no roles. */
    roleMappings: p.json<RoleMappings>().nullable(),
    /** Increased by each change of the settings or the secret. */
    version: p.integer().default(1),
    lastSuccessAt: instant().nullable(),
    lastFailureAt: instant().nullable(),
    /** Number of failures by reason since the last change of the settings. */
    failures: p.json<Record<string, number>>().defaultRaw("'{}'"),
    /** SAML: when the metadata URL was read last. */
    metadataCheckedAt: instant().nullable(),
    metadataFault: p.enum(metadataFaults).nullable(),
    /** SAML: when the last certificate of the provider expires. */
    certificateExpiresAt: instant().nullable(),
    /** Days of the last warning about it. */
    warnedDays: p.integer().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  },
  indexes: [{ name: 'connections_project_id_organization_id_index', properties: ['project', 'organizationId'] }],
});

/** An upstream identity provider by which users of a project sign in (decisions/0386). */
export class Connection extends schema.class {}
schema.setClass(Connection);
