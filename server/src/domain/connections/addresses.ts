import type { Connection } from './connection.entity.ts';

const paths = { oidc: 'callback', saml: 'acs' } as const;

/** Where a provider sends its answers: the redirect URI, or the ACS URL. @param origin of the host of the sign-in */
export function answerUrlOf({ id, kind }: Pick<Connection, 'id' | 'kind'>, origin: string): string {
  return `${origin}/connect/${id}/${paths[kind]}`;
}

/** Our entity ID at a SAML provider, and the address of our metadata. @param origin of the base host */
export function entityIdOf({ id }: Pick<Connection, 'id'>, origin: string): string {
  return `${origin}/connect/${id}/metadata`;
}
