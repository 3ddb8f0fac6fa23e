import { t } from '../../language/language.ts';
import type { Connection } from '../connection-part.ts';

/** Values of the provider as entered: an empty secret keeps the stored one. */
export interface ProviderValues {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

export const providerValuesOf = ({ oidc }: Connection): ProviderValues => ({
  issuer: oidc?.issuer ?? '',
  clientId: oidc?.clientId ?? '',
  clientSecret: '',
});

export function providerInput({ issuer, clientId, clientSecret }: Partial<ProviderValues>) {
  return {
    ...(issuer === undefined ? {} : { issuer: issuer.trim() }),
    ...(clientId === undefined ? {} : { clientId: clientId.trim() }),
    ...(clientSecret ? { clientSecret: clientSecret.trim() } : {}),
  };
}

/** Whether the connection has the values of its provider. */
export const isComplete = ({ oidc, saml }: Connection): boolean =>
  saml ? saml.entityId !== '' : oidc?.issuer !== '' && oidc?.clientId !== '';

/** Whether the stored secret must be entered again: it is for the former issuer. */
export function needsSecret({ hasSecret, oidc }: Connection, { issuer, clientSecret }: ProviderValues): boolean {
  return hasSecret && issuer.trim() !== (oidc?.issuer ?? '') && clientSecret.trim() === '';
}

export const attributes = {
  givenName: t('Given name'),
  familyName: t('Family name'),
  displayName: t('Display name'),
  locale: t('Language'),
} as const;
type Attribute = keyof typeof attributes;
export const attributeNames = Object.keys(attributes) as Attribute[];

const mappingsOf = ({ mappings }: Connection) =>
  Object.fromEntries(attributeNames.map((name) => [name, String(mappings[name] ?? '')])) as Record<Attribute, string>;

/** Settings that connections of all kinds have. */
const sharedValuesOf = (connection: Connection) => ({
  name: connection.name,
  jit: connection.jit,
  refreshesProfile: connection.refreshesProfile,
  ...mappingsOf(connection),
});

export type SharedValues = ReturnType<typeof sharedValuesOf>;

/** Mappings are replaced as a whole. */
function sharedInput(saved: SharedValues, { name, jit, refreshesProfile, ...edits }: Partial<SharedValues>) {
  const isMapped = attributeNames.some((attribute) => edits[attribute] !== undefined);
  return {
    ...(name === undefined ? {} : { name }),
    ...(jit === undefined ? {} : { jit }),
    ...(refreshesProfile === undefined ? {} : { refreshesProfile }),
    ...(isMapped ? { mappings: mapped({ ...saved, ...edits }) } : {}),
  };
}

export const valuesOf = (connection: Connection) => ({
  ...sharedValuesOf(connection),
  ...providerValuesOf(connection),
  scopes: connection.oidc?.scopes.join(' ') ?? '',
  hostedDomain: connection.oidc?.hostedDomain ?? '',
  acceptsAssertions: connection.acceptsAssertions,
});

export type Values = ReturnType<typeof valuesOf>;

/** The input of the API for edits of a connection by OpenID Connect. */
export function inputOf(saved: Values, edits: Partial<Values>) {
  const { acceptsAssertions, scopes, hostedDomain } = edits;
  const oidc = {
    ...providerInput(edits),
    ...(scopes === undefined ? {} : { scopes: scopes.split(/\s+/).filter(Boolean) }),
    ...(hostedDomain === undefined ? {} : { hostedDomain: hostedDomain.trim() }),
  };
  return {
    ...sharedInput(saved, edits),
    ...(acceptsAssertions === undefined ? {} : { acceptsAssertions }),
    ...(Object.keys(oidc).length > 0 ? { oidc } : {}),
  };
}

type Saml = NonNullable<Connection['saml']>;

export const samlValuesOf = (connection: Connection, saml: Saml) => ({
  ...sharedValuesOf(connection),
  signed: saml.signed,
  nameId: saml.nameId,
  emailAttribute: saml.emailAttribute ?? '',
  vouchesForEmail: saml.vouchesForEmail,
  allowsSha1: saml.allowsSha1,
  allowsCbc: saml.allowsCbc,
});

export type SamlValues = ReturnType<typeof samlValuesOf>;

const ofSaml = ['signed', 'nameId', 'emailAttribute', 'vouchesForEmail', 'allowsSha1', 'allowsCbc'] as const;

/** Whether an edit concerns the answers of the SAML provider. */
export const isOfSaml = (name: keyof SamlValues): boolean => ofSaml.some((one) => one === name);

/** The input of the API for edits of a connection by SAML. */
export function samlInputOf(saved: SamlValues, edits: Partial<SamlValues>) {
  const changed = Object.entries(edits).filter(([name]) => isOfSaml(name as keyof SamlValues));
  const saml = Object.fromEntries(
    changed.map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value]),
  );
  return { ...sharedInput(saved, edits), ...(changed.length > 0 ? { saml } : {}) };
}

const mapped = (values: SharedValues) =>
  Object.fromEntries(
    attributeNames.flatMap((name) => (values[name].trim() === '' ? [] : [[name, values[name].trim()]])),
  );
