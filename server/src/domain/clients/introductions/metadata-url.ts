import { isIP } from 'node:net';
import { isPrivateHost } from '../../kernel/network.ts';

/** Characters; the URL is in tokens and on pages. */
const longest = 500;

/**
 * Why a URL cannot be a `client_id` (draft-ietf-oauth-client-id-metadata-document section 3); null if it can. Only the normal form:
 * other spellings would be other clients, and a host in Unicode could look like another one.
 */
export function metadataUrlFault(text: string, allowPrivate: boolean): string | null {
  if (text.length > longest) return `client_id is longer than ${longest} characters`;
  if (!/^[\x21-\x7e]+$/.test(text)) return 'client_id contains a non-ASCII character: write the host in Punycode';
  if (!URL.canParse(text)) return 'client_id is not a URL';
  const url = new URL(text);
  if (url.protocol !== 'https:') return 'client_id must be https';
  if (url.username !== '' || url.password !== '') return 'client_id must not contain a user name';
  if (text.includes('#')) return 'client_id must not have a fragment';
  if (url.pathname === '/') return 'client_id must have a path';
  if (url.href !== text) return 'client_id must be in normal form, without dot segments';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!allowPrivate && (isIP(host) !== 0 || isPrivateHost(url.hostname)))
    return 'client_id must have a public host name';
  return hostFault(url.host);
}

/** Six digits in a mail could be mistaken for its code. */
export function hostFault(host: string): string | null {
  return /\d{6}/.test(host) ? 'the host must not contain six digits' : null;
}
