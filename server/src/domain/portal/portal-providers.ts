/** A provider that the portal explains, by its preset; the way through its screens is in `connections/guides.ts`. */
export interface PortalProvider {
  name: string;
  /** Form of the issuer of OpenID Connect; null: fixed by the preset. */
  issuer: string | null;
}

export const providers = {
  okta: { name: 'Okta', issuer: 'https://<domain>.okta.com' },
  entra: { name: 'Microsoft Entra ID', issuer: 'https://login.microsoftonline.com/<tenant id>/v2.0' },
  google: { name: 'Google Workspace', issuer: null },
  onelogin: { name: 'OneLogin', issuer: 'https://<subdomain>.onelogin.com/oidc/2' },
  jumpcloud: { name: 'JumpCloud', issuer: null },
  pingone: { name: 'PingOne', issuer: 'https://auth.pingone.com/<environment id>/as' },
  keycloak: { name: 'Keycloak', issuer: 'https://<host>/realms/<realm>' },
  auth0: { name: 'Auth0', issuer: 'https://<tenant>.auth0.com/' },
  generic: { name: 'Single sign-on', issuer: 'https://idp.example.com' },
} as const satisfies Record<string, PortalProvider>;

export type PortalProviderName = keyof typeof providers;
