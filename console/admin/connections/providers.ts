import { t } from '../language/language.ts';

/** An identity provider. Its steps are in `providers/steps.ts`. */
export interface Provider {
  /** Preset of the API. */
  id: string;
  name: string;
  /** Name of the field for the redirect URI there. */
  field: string;
  /** Form of the issuer; absent: the same for all customers. */
  issuer?: string;
  /** Absent: OpenID Connect only. */
  hasSaml?: true;
}

export const providers: readonly Provider[] = [
  {
    id: 'okta',
    name: 'Okta',
    field: 'Sign-in redirect URIs',
    issuer: 'https://acme.okta.com',
    hasSaml: true,
  },
  {
    id: 'entra',
    name: 'Microsoft Entra ID',
    field: 'Redirect URI, Web',
    issuer: 'https://login.microsoftonline.com/…/v2.0',
    hasSaml: true,
  },
  {
    id: 'google',
    name: 'Google',
    field: 'Authorized redirect URIs',
    hasSaml: true,
  },
  {
    id: 'onelogin',
    name: 'OneLogin',
    field: 'Configuration, Redirect URIs',
    issuer: 'https://acme.onelogin.com/oidc/2',
    hasSaml: true,
  },
  {
    id: 'jumpcloud',
    name: 'JumpCloud',
    field: 'Redirect URIs',
    hasSaml: true,
  },
  {
    id: 'pingone',
    name: 'PingOne',
    field: 'Configuration, Redirect URIs',
    issuer: 'https://auth.pingone.com/…/as',
    hasSaml: true,
  },
  {
    id: 'adfs',
    name: 'AD FS',
    field: 'Redirect URI',
    issuer: 'https://fs.acme.example/adfs',
    hasSaml: true,
  },
  {
    id: 'auth0',
    name: 'Auth0',
    field: 'Allowed Callback URLs',
    issuer: 'https://acme.auth0.com/',
    hasSaml: true,
  },
  {
    id: 'keycloak',
    name: 'Keycloak',
    field: 'Valid redirect URIs',
    issuer: 'https://sso.acme.example/realms/staff',
    hasSaml: true,
  },
  {
    id: 'gitlab',
    name: 'GitLab',
    field: 'Redirect URI',
  },
  {
    id: 'microsoft',
    name: t('Microsoft (personal accounts)'),
    field: 'Redirect URI, Web',
  },
  {
    id: 'generic',
    name: t('Another provider'),
    field: 'redirect_uri',
    issuer: 'https://idp.acme.example',
    hasSaml: true,
  },
];

/** The one of a preset; of a newer server's: without a name. */
export const providerOf = (preset: string): Provider =>
  providers.find(({ id }) => id === preset) ?? { id: preset, name: preset, field: 'redirect_uri', issuer: '' };
