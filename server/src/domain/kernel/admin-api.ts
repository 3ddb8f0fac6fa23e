/**
 * Rights of machines at the admin API (service.md 2.7, decisions/0140). `write` includes `read` of the same resource;
 * `scim` is the right of a directory, only at the SCIM endpoints.
 */
export const adminScopes = [
  'users:read',
  'users:write',
  'consent:read',
  'consent:write',
  'clients:read',
  'clients:write',
  'projects:read',
  'projects:write',
  'audit:read',
  'profile:self',
  'scim',
] as const;
export type AdminScope = (typeof adminScopes)[number];

/** Whether a client's scopes at the admin API contain this one: `write` contains `read` of the same resource. */
export function mayUse(held: readonly string[], scope: AdminScope): boolean {
  return held.includes(scope) || (scope.endsWith(':read') && held.includes(scope.replace(':read', ':write')));
}

/** Lifetime in seconds of a client's token for the admin API. */
export const adminTokenTtlSeconds = 900;

/** The resource of the admin API (RFC 8707 section 2): `aud` of its tokens. */
export function adminApiUrl(baseUrl: string): string {
  return `${baseUrl}/admin`;
}
