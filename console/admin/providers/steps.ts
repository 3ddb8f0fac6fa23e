import { t } from '../language/language.ts';

/** The steps at an identity provider, in the words of its own pages. */
interface ProviderSteps {
  /** How to create an application by OpenID Connect there. */
  create: string;
  /** What follows the redirect URI. */
  after?: string;
  note?: string;
  /** How to create a SAML application there. */
  saml?: string;
}

const unverified = t('This provider does not verify addresses: new users prove theirs once by a code.');
const entraSecret = t('Open “Certificates & secrets”, press “New client secret”, and copy its value.');

const anySaml = t(
  'At the provider, create a SAML 2.0 application with a persistent NameID, and attributes for the mail address and the names.',
);

/** By preset of the API. */
export const providerSteps: Record<string, ProviderSteps> = {
  okta: {
    create: t(
      'In the Okta admin console, open Applications and press “Create App Integration”. Choose “OIDC - OpenID Connect” and “Web Application”.',
    ),
    after: t('Under “Assignments”, choose who may sign in, and save.'),
    saml: t('In the Okta admin console, open Applications and press “Create App Integration”. Choose “SAML 2.0”.'),
  },
  entra: {
    create: t(
      'In the Entra admin center, open App registrations, press “New registration”, and choose “Accounts in this organizational directory only”.',
    ),
    after: entraSecret,
    note: unverified,
    saml: t(
      'In the Entra admin center, open Enterprise applications, create your own application, and choose Single sign-on, “SAML”.',
    ),
  },
  google: {
    create: t(
      'In the Google Cloud console, open APIs & Services, Credentials, and create an “OAuth client ID” of the type “Web application”.',
    ),
    saml: t(
      'In the Google admin console, open Web and mobile apps, press “Add app”, and choose “Add custom SAML app”.',
    ),
  },
  onelogin: {
    create: t('In OneLogin, open Applications, press “Add App”, and choose “OpenId Connect (OIDC)”.'),
    after: t('On the SSO tab, set the authentication of the token endpoint to “Basic”.'),
    saml: anySaml,
  },
  jumpcloud: {
    create: t('In JumpCloud, open SSO Applications, add a “Custom Application”, and choose “Configure SSO with OIDC”.'),
    after: t('Choose “Client Secret Basic”, and give a user group access.'),
    saml: anySaml,
  },
  pingone: {
    create: t('In PingOne, open Applications, press “+”, and choose “OIDC Web App”.'),
    after: t('Turn the application on.'),
    saml: anySaml,
  },
  adfs: {
    create: t(
      'In AD FS Management, open Application Groups, press “Add Application Group”, and choose “Server application accessing a web API”.',
    ),
    note: unverified,
    saml: t(
      'In AD FS Management, open Relying Party Trusts, press “Add Relying Party Trust”, and choose “Claims aware”.',
    ),
  },
  auth0: {
    create: t('In Auth0, open Applications, press “Create Application”, and choose “Regular Web Applications”.'),
    saml: anySaml,
  },
  keycloak: {
    create: t(
      'In the Keycloak admin console, open Clients and press “Create client”. Choose “OpenID Connect”, and turn on “Client authentication”.',
    ),
    after: t('The secret is on the Credentials tab.'),
    saml: anySaml,
  },
  gitlab: {
    create: t(
      'In GitLab, open the applications of your profile or group and press “Add new application”. Turn on “Confidential”, and choose the scopes openid, email and profile.',
    ),
  },
  microsoft: {
    create: t(
      'In the Entra admin center, open App registrations, press “New registration”, and choose “Personal Microsoft accounts only”.',
    ),
    after: entraSecret,
    note: unverified,
  },
  generic: {
    create: t('At the provider, create a confidential client with the authorization code flow and PKCE (S256).'),
    saml: anySaml,
  },
};
