import { checkLogoutUri } from '../clients/logout-uri.ts';
import { isLine } from '../kernel/name.ts';
import { invalid } from '../kernel/problem.ts';
import { mappedAttributes, type OidcSettings, type ProfileMappings, type RoleMappings } from './connection.entity.ts';
import { presetOf } from './presets.ts';
import { maxGroupLength } from './upstream-person.ts';

/** Input of {@link checkedOidc}. */
export interface OidcInput {
  issuer?: string | null | undefined;
  clientId?: string | null | undefined;
  scopes?: readonly string[] | null | undefined;
  hostedDomain?: string | null | undefined;
}

export const defaultMappings: ProfileMappings = {
  givenName: 'given_name',
  familyName: 'family_name',
  displayName: 'name',
  locale: 'locale',
};

const maxScopes = 20;
const maxSecretLength = 1000;

/**
 * The settings of a new or changed connection, completed by its preset. Refuses `invalid`, naming the field. A new connection may
 * lack values that the provider gives after the redirect URI is registered there: they are empty until then.
 *
 * @param before of a connection that is changed: absent inputs keep these
 */
export function checkedOidc(
  preset: string,
  input: OidcInput,
  allowPrivateTargets: boolean,
  before?: OidcSettings,
): OidcSettings {
  const fixed = presetOf(preset);
  const issuer = fixed.issuer ?? input.issuer ?? before?.issuer ?? '';
  if (fixed.issuer && input.issuer && input.issuer !== fixed.issuer) {
    invalid('oidc.issuer', `must be ${fixed.issuer} for this preset, or absent`);
  }
  const isIssuerGiven = issuer !== '' || input.issuer != null;
  const fault = isIssuerGiven && (issuerFault(issuer, allowPrivateTargets) ?? fixed.issuerFault?.(issuer));
  if (fault) invalid('oidc.issuer', fault);
  return {
    issuer,
    clientId: input.clientId == null ? (before?.clientId ?? '') : checkedClientId(input.clientId),
    scopes: checkedScopes(input.scopes ?? before?.scopes ?? fixed.scopes),
    hostedDomain: checkedHostedDomain(preset, input.hostedDomain, before?.hostedDomain ?? null),
  };
}

/** Refuses `invalid` if a value is missing that sign-ins need. */
export function checkCompleteOidc({ issuer, clientId }: OidcSettings): void {
  if (issuer === '') invalid('oidc.issuer', 'must be given');
  if (clientId === '') invalid('oidc.clientId', 'must be given');
}

function issuerFault(issuer: string, allowPrivateTargets: boolean): string | null {
  const fault = checkLogoutUri(issuer, allowPrivateTargets);
  // OpenID Connect Discovery 1.0 section 3.
  return fault ?? (issuer.includes('?') ? 'must not have a query' : null);
}

function checkedClientId(clientId: string): string {
  if (clientId === '' || clientId.length > 255 || !/^[\x20-\x7e]+$/.test(clientId)) {
    invalid('oidc.clientId', 'must be 1 to 255 characters of ASCII');
  }
  return clientId;
}

function checkedScopes(scopes: readonly string[]): string[] {
  const all = [...new Set(scopes)];
  if (!all.includes('openid')) invalid('oidc.scopes', 'must contain openid');
  if (all.length > maxScopes) invalid('oidc.scopes', `must be at most ${maxScopes}`);
  // RFC 6749 section 3.3.
  const wrong = all.findIndex((scope) => scope.length > 200 || !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (wrong >= 0) invalid(`oidc.scopes[${wrong}]`, 'must be a scope: 1 to 200 characters of ASCII without spaces');
  return all;
}

function checkedHostedDomain(preset: string, input: string | null | undefined, before: string | null): string | null {
  const domain = input === undefined ? before : input === '' ? null : input;
  if (domain === null) return null;
  if (preset !== 'google') invalid('oidc.hostedDomain', 'is a setting of the preset google');
  if (!/^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/.test(domain) || domain.length > 253) {
    invalid('oidc.hostedDomain', 'must be a domain in lower case, such as example.com');
  }
  return domain;
}

/** Refuses `invalid`. */
export function checkedClientSecret(secret: string): string {
  if (secret === '' || secret.length > maxSecretLength || !isLine(secret)) {
    invalid('oidc.clientSecret', `must be one line of 1 to ${maxSecretLength} characters`);
  }
  return secret;
}

/** Refuses `invalid`. */
export function checkedProfileMappings(input: unknown): ProfileMappings {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) invalid('mappings', 'must be an object');
  const entries = Object.entries(input as Record<string, unknown>).filter(([, claim]) => claim !== null);
  for (const [name, claim] of entries) {
    if (!mappedAttributes.some((attribute) => attribute === name)) {
      invalid(`mappings.${name.slice(0, 50)}`, `must be one of ${mappedAttributes.join(', ')}`);
    }
    if (typeof claim !== 'string' || claim === '' || claim.length > 100 || !isLine(claim)) {
      invalid(`mappings.${name}`, 'must be the name of a claim, of 1 to 100 characters');
    }
  }
  return Object.fromEntries(entries);
}

const maxRoleMappings = 200;

/** Refuses `invalid`. Null: an empty object, no mappings. */
export function checkedRoleMappings(input: unknown): RoleMappings | null {
  const field = 'roleMappings';
  if (typeof input !== 'object' || input === null || Array.isArray(input)) invalid(field, 'must be an object');
  if (Object.keys(input).length === 0) return null;
  const { claim, roles, ...others } = input as Record<string, unknown>;
  if (Object.keys(others).length > 0) invalid(field, 'must have claim and roles only');
  if (typeof claim !== 'string' || claim === '' || claim.length > 200 || !isLine(claim)) {
    invalid(`${field}.claim`, 'must be the name of a claim, of 1 to 200 characters');
  }
  const entries = typeof roles === 'object' && roles !== null && !Array.isArray(roles) ? Object.entries(roles) : [];
  const isUsable = ([value, role]: [string, unknown]) =>
    value !== '' && value.length <= maxGroupLength && isLine(value) && typeof role === 'string';
  if (entries.length === 0 || entries.length > maxRoleMappings || !entries.every(isUsable)) {
    invalid(`${field}.roles`, `must have 1 to ${maxRoleMappings} values, each with the key of a role`);
  }
  return { claim, roles: Object.fromEntries(entries) as Record<string, string> };
}
