import type { Issuer } from '../../domain/projects/issuer.ts';
import { type Schema, text } from '../../http/openapi/document.ts';
import { discoveryDocument } from '../discovery.ts';

const integer = { type: 'integer' };
const bool = { type: 'boolean' };
const strings = { type: 'array', items: { type: 'string' } };

/** Schemas that several operations use. */
export const schemas: Record<string, Schema> = {
  OAuthError: {
    type: 'object',
    properties: { error: { type: 'string' }, error_description: { type: 'string' } },
    required: ['error', 'error_description'],
  },
  TokenResponse: {
    type: 'object',
    properties: {
      id_token: text('ID token. Absent for tokens of an application itself, and for an API if the scope lacks openid.'),
      access_token: text('Access token, a JWT (RFC 9068).'),
      token_type: { type: 'string', enum: ['Bearer', 'DPoP', 'N_A'] },
      expires_in: { ...integer, description: 'Seconds.' },
      scope: text('Granted scopes.'),
      refresh_token: text('For applications with refresh tokens.'),
      issued_token_type: text('Of a token exchange (RFC 8693).'),
      resource: text('The API, for an identity assertion.'),
    },
    required: ['access_token', 'token_type', 'expires_in'],
  },
  UserInfo: {
    type: 'object',
    description: 'Absent values are left out. Issuers of projects add the claims that the application maps.',
    properties: {
      sub: text('Stable user ID.'),
      name: { type: 'string' },
      given_name: { type: 'string' },
      family_name: { type: 'string' },
      middle_name: { type: 'string' },
      nickname: { type: 'string' },
      preferred_username: { type: 'string' },
      profile: { type: 'string' },
      picture: { type: 'string' },
      email: { type: 'string' },
      email_verified: bool,
      phone_number: text('E.164.'),
      birthdate: text('YYYY-MM-DD.'),
      address: { type: 'object', additionalProperties: { type: 'string' } },
      locale: { type: 'string' },
      zoneinfo: { type: 'string' },
      updated_at: { ...integer, description: 'Unix seconds.' },
      groups: strings,
      roles: strings,
    },
    required: ['sub'],
    additionalProperties: true,
  },
  JwkSet: {
    type: 'object',
    properties: {
      keys: {
        type: 'array',
        items: {
          type: 'object',
          properties: { kty: { type: 'string' }, kid: { type: 'string' }, alg: { type: 'string' } },
          required: ['kty', 'kid', 'alg'],
          additionalProperties: true,
        },
      },
    },
    required: ['keys'],
  },
};

/** The schema of the discovery document, from the documents of all issuers. */
export function discoverySchema(issuers: readonly Issuer[]): Schema {
  const documents = issuers.map((issuer) => discoveryDocument(issuer) as Record<string, unknown>);
  const names = [...new Set(documents.flatMap((document) => Object.keys(document)))];
  return {
    type: 'object',
    properties: Object.fromEntries(
      names.map((name) => [name, typeOf(documents.find((document) => name in document)?.[name])]),
    ),
    required: names.filter((name) => documents.every((document) => name in document)),
  };
}

function typeOf(value: unknown): Schema {
  if (Array.isArray(value)) return strings;
  return { type: typeof value };
}
