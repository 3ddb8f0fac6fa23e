import { version } from '../../../../shared/browser/package.json';
import { settings } from '../../settings.ts';
import type { Client } from '../client-part.ts';
import { developmentUris } from '../development.ts';
import { needsProjectIssuer } from '../issuer-advice.ts';
import { hasSecret, kindOf } from '../kind.ts';

export interface SnippetValues {
  client: Client;
  /** Address of the project's issuer. */
  projectIssuer: string;
  /** Available only at creation. */
  publishableKey?: string | undefined;
}

/** This application's values are between ‹ and › in a snippet. */
export const baseIssuer = () => `‹${settings.issuer}›`;
export const clientIdOf = ({ client }: SnippetValues) => `‹${client.id}›`;
/** A loopback address if there is one, since pasted code runs there; an example if no address is registered. */
export const redirectUriOf = ({ client }: SnippetValues) =>
  client.redirectUris.find((uri) => uri.startsWith('http:')) ??
  client.redirectUris[0] ??
  developmentUris[kindOf(client)];
/** A part of the redirect URI, marked unless it is an example. */
export const marked = ({ client: { redirectUris } }: SnippetValues, part: string) =>
  redirectUris.length === 0 ? part : `‹${part}›`;
export const redirectOf = (values: SnippetValues) => marked(values, redirectUriOf(values));

/** An address as a string in JavaScript. It may contain apostrophes; quotation marks and backslashes are refused. */
const literalOf = (address: string) => `'${address.replaceAll("'", "\\'")}'`;
export const redirectStringOf = (values: SnippetValues) => literalOf(redirectOf(values));
/** A registered address as a string in JavaScript, marked. */
export const stringOf = (uri: string) => literalOf(`‹${uri}›`);

/** The issuer that this application needs; the base issuer if either would do. */
export function issuerOf({ client, projectIssuer }: SnippetValues): string {
  return needsProjectIssuer(client) ? `‹${projectIssuer}›` : baseIssuer();
}

/** Scopes to request at {@link issuerOf}; only the project's issuer supports groups and roles. */
export const scopesOf = (client: Client): string =>
  needsProjectIssuer(client) ? 'openid profile email groups roles' : 'openid profile email';

/** JWS algorithm of its ID tokens at {@link issuerOf}. */
export function signatureOf({ client }: SnippetValues): string {
  if (!needsProjectIssuer(client)) return 'ES512';
  return client.idTokenSignedResponseAlg === 'EDDSA' ? 'EdDSA' : client.idTokenSignedResponseAlg;
}

/** The client's authentication at the token endpoint. */
export function proofOf({ client: { tokenEndpointAuthMethod: method } }: SnippetValues): 'none' | 'secret' | 'key' {
  if (method === 'NONE') return 'none';
  return hasSecret(method) ? 'secret' : 'key';
}

/** JWS algorithm of the keys that the application has registered. */
export function keyAlgorithmOf({ client }: SnippetValues): 'Ed25519' | 'ES256' | 'RS256' {
  const { keys = [] } = (client.jwks ?? {}) as { keys?: { crv?: string; kty?: string }[] };
  const [key] = keys;
  if (key?.kty === 'RSA') return 'RS256';
  return key?.crv === 'P-256' ? 'ES256' : 'Ed25519';
}

/** The port of the redirect URI, marked. */
export function portOf(values: SnippetValues): string {
  return marked(values, new URL(redirectUriOf(values)).port || '3001');
}

/** This instance serves its own packages. */
export function packageOf(name: 'browser' | 'node' | 'react'): string {
  return `${baseIssuer()}/sdk/latchkey-${name}-${version}.tgz`;
}

/** Replaces all occurrences of each value of an example. */
export function fill(example: string, values: Record<string, string>): string {
  return Object.entries(values)
    .reduce((text, [name, value]) => text.replaceAll(name, () => value), example)
    .trim();
}

/** Several files in one text, each under its path. */
export function filesOf(files: Record<string, string>): string {
  return Object.entries(files)
    .map(([path, text]) => `\n// ${path}\n${text.trim()}\n`)
    .join('')
    .trimEnd();
}
