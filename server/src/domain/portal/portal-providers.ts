/** A provider that the portal explains, by its preset. The steps are in the words of its own screens. */
export interface PortalProvider {
  name: string;
  oidc: string;
  saml: string;
  /** Form of the issuer of OpenID Connect; null: fixed by the preset. */
  issuer: string | null;
}

export const providers = {
  okta: {
    name: 'Okta',
    oidc: 'Applications → Create App Integration → OIDC - OpenID Connect → Web Application',
    saml: 'Applications → Create App Integration → SAML 2.0',
    issuer: 'https://<domain>.okta.com',
  },
  entra: {
    name: 'Microsoft Entra ID',
    oidc: 'App registrations → New registration → Accounts in this organizational directory only → Web',
    saml: 'Enterprise applications → New application → Create your own application → Single sign-on → SAML',
    issuer: 'https://login.microsoftonline.com/<tenant id>/v2.0',
  },
  google: {
    name: 'Google Workspace',
    oidc: 'Google Cloud console → APIs & Services → Credentials → Create credentials → OAuth client ID → Web application',
    saml: 'Admin console → Apps → Web and mobile apps → Add app → Add custom SAML app',
    issuer: null,
  },
  onelogin: {
    name: 'OneLogin',
    oidc: 'Applications → Add App → OpenId Connect (OIDC)',
    saml: 'Applications → Add App → SAML Custom Connector (Advanced)',
    issuer: 'https://<subdomain>.onelogin.com/oidc/2',
  },
  jumpcloud: {
    name: 'JumpCloud',
    oidc: 'SSO Applications → Add New Application → Custom Application → Configure SSO with OIDC',
    saml: 'SSO Applications → Add New Application → Custom Application → Configure SSO with SAML',
    issuer: null,
  },
  pingone: {
    name: 'PingOne',
    oidc: 'Applications → + → OIDC Web App',
    saml: 'Applications → + → SAML Application',
    issuer: 'https://auth.pingone.com/<environment id>/as',
  },
  keycloak: {
    name: 'Keycloak',
    oidc: 'Clients → Create client → OpenID Connect → Client authentication: On',
    saml: 'Clients → Create client → SAML',
    issuer: 'https://<host>/realms/<realm>',
  },
  auth0: {
    name: 'Auth0',
    oidc: 'Applications → Create Application → Regular Web Applications',
    saml: 'Applications → Create Application → Addons → SAML2 Web App',
    issuer: 'https://<tenant>.auth0.com/',
  },
  generic: {
    name: 'Single sign-on',
    oidc: '…',
    saml: '…',
    issuer: 'https://idp.example.com',
  },
} as const satisfies Record<string, PortalProvider>;

export type PortalProviderName = keyof typeof providers;
