import { cleanName, isLine } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';
import { checkNumber } from '../kernel/resource.ts';
import { userScopes } from '../projects/issuer.ts';
import type { ApiScope } from './api.entity.ts';

export interface ApiSettings {
  name: string;
  /** At least one. */
  scopes: ApiScope[];
  accessTokenTtlSeconds: number;
  /** Whether third-party applications get tokens of users who consent. */
  thirdPartyAccess: boolean;
  /** Whether its tokens can be obtained by an exchange of a token of another API (RFC 8693). */
  tokenExchange: boolean;
  /** Whether users can make API keys for it. */
  userKeys: boolean;
}

export const defaultTtlSeconds = 900;
const ttlBounds = [60, 3600] as const;
const maxScopes = 100;
const maxKey = 100;
const maxDescription = 200;
const maxIdentifier = 500;

/** An absolute URI in ASCII without a fragment (RFC 3986 section 4.3). */
const absoluteUri = /^[A-Za-z][A-Za-z0-9+.-]*:[\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/;
const keySyntax = /^[A-Za-z0-9][A-Za-z0-9_.:/*-]*$/;

/**
 * Refuses `invalid`: tokens for our own addresses would be accepted by UserInfo or the admin API.
 *
 * @param baseUrl the base issuer's address
 */
export function checkIdentifier(identifier: unknown, baseUrl: string): string {
  const field = 'identifier';
  if (typeof identifier !== 'string' || !absoluteUri.test(identifier)) {
    const reason = 'must be an absolute URI without a fragment, such as https://api.example.com';
    return refuse({ code: 'invalid', field, reason });
  }
  if (identifier.length > maxIdentifier) {
    refuse({ code: 'invalid', field, reason: `must have at most ${maxIdentifier} characters` });
  }
  if (isWithin(identifier, baseUrl)) {
    refuse({ code: 'invalid', field, reason: 'must not be an address of this server' });
  }
  return identifier;
}

/** The settings as stored. Refuses `invalid`. */
export function checkedApi(settings: Partial<ApiSettings>): Partial<ApiSettings> {
  const { name, scopes, accessTokenTtlSeconds, thirdPartyAccess, tokenExchange, userKeys } = settings;
  for (const [field, value] of Object.entries({ thirdPartyAccess, tokenExchange, userKeys })) {
    if (value !== undefined && typeof value !== 'boolean') {
      refuse({ code: 'invalid', field, reason: 'must be true or false' });
    }
  }
  if (accessTokenTtlSeconds !== undefined)
    checkNumber('accessTokenTtlSeconds', accessTokenTtlSeconds, ttlBounds, 'seconds');
  return {
    ...(name === undefined ? {} : { name: cleanName(name) }),
    ...(scopes === undefined ? {} : { scopes: checkedScopes(scopes) }),
    ...(accessTokenTtlSeconds === undefined ? {} : { accessTokenTtlSeconds }),
    ...(thirdPartyAccess === undefined ? {} : { thirdPartyAccess }),
    ...(tokenExchange === undefined ? {} : { tokenExchange }),
    ...(userKeys === undefined ? {} : { userKeys }),
  };
}

function checkedScopes(scopes: readonly ApiScope[]): ApiScope[] {
  const field = 'scopes';
  if (!Array.isArray(scopes) || !scopes.every(isScope)) {
    refuse({ code: 'invalid', field, reason: 'must be a list of scopes with key and description' });
  }
  if (scopes.length === 0) refuse({ code: 'invalid', field, reason: 'must contain at least one scope' });
  if (scopes.length > maxScopes) {
    refuse({ code: 'invalid', field, reason: `must contain at most ${maxScopes} scopes` });
  }
  const keys = new Set<string>();
  return scopes.map(({ key, description }, index) => {
    const at = `${field}[${index}]`;
    if (!keySyntax.test(key) || key.length > maxKey) {
      const reason = `must begin with a letter or digit, contain only letters, digits and _ . : / * -, and have at most ${maxKey} characters`;
      refuse({ code: 'invalid', field: `${at}.key`, reason });
    }
    if (userScopes.includes(key)) {
      refuse({ code: 'invalid', field: `${at}.key`, reason: 'is a scope of OpenID Connect' });
    }
    if (keys.has(key)) refuse({ code: 'invalid', field: `${at}.key`, reason: 'occurs twice' });
    keys.add(key);
    const text = description.normalize('NFC').trim();
    if (text === '') refuse({ code: 'invalid', field: `${at}.description`, reason: 'must not be blank' });
    if ([...text].length > maxDescription || !isLine(text)) {
      const reason = `must be one line of at most ${maxDescription} characters`;
      refuse({ code: 'invalid', field: `${at}.description`, reason });
    }
    return { key, description: text };
  });
}

function isScope(value: unknown): value is ApiScope {
  const { key, description } = (value ?? {}) as Partial<Record<keyof ApiScope, unknown>>;
  return typeof key === 'string' && typeof description === 'string';
}

/** Whether a URI is the base address or below it, however it is written. */
function isWithin(identifier: string, baseUrl: string): boolean {
  if (!URL.canParse(identifier)) return false;
  const [one, base] = [new URL(identifier), new URL(baseUrl)];
  const path = base.pathname.replace(/\/$/, '');
  const isBelow = one.pathname === path || one.pathname.startsWith(`${path}/`);
  return one.protocol === base.protocol && one.host === base.host && isBelow;
}
