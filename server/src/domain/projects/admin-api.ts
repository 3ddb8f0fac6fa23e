/** Rights of machines at the admin API (service.md 2.7). `write` includes `read` of the same noun. */
export const adminScopes = [
  'users:read',
  'users:write',
  'clients:read',
  'clients:write',
  'projects:read',
  'projects:write',
  'audit:read',
] as const;
export type AdminScope = (typeof adminScopes)[number];

/** What a client can be granted, for admins. */
export const adminScopeDescriptions: Record<AdminScope, string> = {
  'users:read': 'Read users, groups, sessions and devices',
  'users:write': 'Change users, end their sessions and assign roles',
  'clients:read': 'Read applications, their roles and APIs',
  'clients:write': 'Create and change applications, their secrets, roles and APIs',
  'projects:read': 'Read the project, its branding and directories',
  'projects:write': 'Change the project, its branding and directories',
  'audit:read': 'Read the audit log',
};

/** Seconds that a client's token for the admin API lives. */
export const adminTokenTtlSeconds = 900;

/** The resource of the admin API (RFC 8707 section 2): `aud` of its tokens. */
export function adminApiUrl(baseUrl: string): string {
  return `${baseUrl}/admin`;
}
