import type { Api } from './api.entity.ts';

/** What leads clients of an API to its issuer (RFC 9728). */
export interface ProtectedResource {
  /** Where the API serves the metadata. */
  metadataUrl: string;
  metadata: Record<string, unknown>;
}

/** RFC 9728 sections 2 and 3.1. Null: the identifier is not the address of a service. @param issuer of the project */
export function protectedResource(
  { identifier, name, scopes }: Pick<Api, 'identifier' | 'name' | 'scopes'>,
  issuer: string,
): ProtectedResource | null {
  if (!/^https?:/i.test(identifier) || !URL.canParse(identifier)) return null;
  const { origin, pathname, search } = new URL(identifier);
  return {
    metadataUrl: `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}${search}`,
    metadata: {
      resource: identifier,
      authorization_servers: [issuer],
      scopes_supported: scopes.map(({ key }) => key),
      bearer_methods_supported: ['header'],
      resource_name: name,
    },
  };
}
