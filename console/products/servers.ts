import type { Product } from './product.ts';

const discovery = (issuer: string) => `${issuer}/.well-known/openid-configuration`;

/** Data, messages and web frameworks. */
export const servers: readonly Product[] = [
  {
    id: 'directus',
    name: 'Directus',
    words: 'headless cms data',
    address: 'https://data.example.com',
    redirectUris: ['/auth/login/latchkey/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'always',
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret, address }) => `PUBLIC_URL=${address}
AUTH_PROVIDERS=latchkey
AUTH_LATCHKEY_DRIVER=openid
AUTH_LATCHKEY_LABEL=Latchkey
AUTH_LATCHKEY_CLIENT_ID=${clientId}
AUTH_LATCHKEY_CLIENT_SECRET=${clientSecret}
AUTH_LATCHKEY_ISSUER_URL=${discovery(issuer)}
AUTH_LATCHKEY_IDENTIFIER_KEY=email
AUTH_LATCHKEY_ALLOW_PUBLIC_REGISTRATION=true`,
      },
    ],
    sources: ['https://directus.io/docs/configuration/auth-sso'],
  },
  {
    id: 'jupyterhub',
    name: 'JupyterHub',
    words: 'notebooks python oauthenticator',
    address: 'https://jupyter.example.com',
    redirectUris: ['/hub/oauth_callback'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`auth_state_groups_key`',
    pkce: 'always',
    settings: [
      {
        name: 'jupyterhub_config.py',
        language: 'python',
        code: ({ issuer, clientId, clientSecret, address }) => `c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.login_service = "Latchkey"
c.GenericOAuthenticator.client_id = "${clientId}"
c.GenericOAuthenticator.client_secret = "${clientSecret}"
c.GenericOAuthenticator.oauth_callback_url = "${address}/hub/oauth_callback"
c.GenericOAuthenticator.authorize_url = "${issuer}/authorize"
c.GenericOAuthenticator.token_url = "${issuer}/oauth2/token"
c.GenericOAuthenticator.userdata_url = "${issuer}/userinfo"
c.GenericOAuthenticator.scope = ["openid", "profile", "email", "groups"]
c.GenericOAuthenticator.username_claim = "preferred_username"
c.GenericOAuthenticator.manage_groups = True
c.GenericOAuthenticator.auth_state_groups_key = "oauth_user.groups"
c.GenericOAuthenticator.allowed_groups = {"staff"}
c.GenericOAuthenticator.admin_groups = {"jupyter-admins"}`,
      },
    ],
    sources: [
      'https://oauthenticator.readthedocs.io/en/latest/tutorials/provider-specific-setup/providers/generic.html',
    ],
  },
  {
    id: 'node-red',
    name: 'Node-RED',
    words: 'flows automation iot',
    address: 'https://nodered.example.com',
    redirectUris: ['/auth/strategy/callback/'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'none',
    withoutRefresh: true,
    settings: [
      {
        name: 'settings.js',
        language: 'js',
        code: ({ issuer, clientId, clientSecret, address }) => `adminAuth: {
  type: 'strategy',
  strategy: {
    name: 'openidconnect',
    label: 'Sign in with Latchkey',
    icon: 'fa-sign-in',
    strategy: require('passport-openidconnect').Strategy,
    options: {
      issuer: '${issuer}',
      authorizationURL: '${issuer}/authorize',
      tokenURL: '${issuer}/oauth2/token',
      userInfoURL: '${issuer}/userinfo',
      clientID: '${clientId}',
      clientSecret: '${clientSecret}',
      callbackURL: '${address}/auth/strategy/callback/',
      scope: ['openid', 'profile', 'email'],
      proxy: true,
      skipUserProfile: false,
      verify: (issuer, profile, done) => done(null, profile),
    },
  },
  users: (username) => Promise.resolve({ username, permissions: '*' }),
},`,
      },
    ],
    sources: [
      'https://nodered.org/docs/user-guide/runtime/securing-node-red',
      'https://www.authelia.com/integration/openid-connect/clients/node-red/',
    ],
  },
  {
    id: 'roundcube',
    name: 'Roundcube',
    words: 'webmail email dovecot imap',
    address: 'https://mail.example.com',
    redirectUris: ['/index.php/login/oauth'],
    postLogoutRedirectUris: ['/'],
    algorithm: 'RS256',
    scope: 'openid email',
    pkce: 'by version',
    settings: [
      {
        name: 'config.inc.php',
        language: 'php',
        code: ({ issuer, clientId, clientSecret }) => `$config['oauth_provider'] = 'generic';
$config['oauth_provider_name'] = 'Latchkey';
$config['oauth_client_id'] = '${clientId}';
$config['oauth_client_secret'] = '${clientSecret}';
$config['oauth_auth_uri'] = '${issuer}/authorize';
$config['oauth_token_uri'] = '${issuer}/oauth2/token';
$config['oauth_identity_uri'] = '${issuer}/userinfo';
$config['oauth_scope'] = 'openid email';
$config['oauth_identity_fields'] = ['email'];`,
      },
      {
        name: 'Dovecot',
        language: 'conf',
        code: ({ issuer }) => `introspection_mode = auth
introspection_url = ${issuer}/userinfo
username_attribute = email`,
      },
    ],
    sources: [
      'https://github.com/roundcube/roundcubemail/wiki/Configuration:-OAuth2',
      'https://www.authelia.com/integration/openid-connect/clients/roundcube/',
    ],
  },
  {
    id: 'django-mozilla-django-oidc',
    name: 'Django mozilla-django-oidc',
    words: 'python framework',
    address: 'https://app.example.com',
    redirectUris: ['/oidc/callback/'],
    algorithm: 'RS256',
    scope: 'openid email',
    pkce: '`OIDC_USE_PKCE`',
    withoutRefresh: true,
    settings: [
      {
        name: 'settings.py',
        language: 'python',
        code: ({ issuer, clientId, clientSecret }) => `INSTALLED_APPS += ['mozilla_django_oidc']
AUTHENTICATION_BACKENDS = ['mozilla_django_oidc.auth.OIDCAuthenticationBackend']
OIDC_RP_CLIENT_ID = '${clientId}'
OIDC_RP_CLIENT_SECRET = '${clientSecret}'
OIDC_RP_SIGN_ALGO = 'RS256'
OIDC_OP_AUTHORIZATION_ENDPOINT = '${issuer}/authorize'
OIDC_OP_TOKEN_ENDPOINT = '${issuer}/oauth2/token'
OIDC_OP_USER_ENDPOINT = '${issuer}/userinfo'
OIDC_OP_JWKS_ENDPOINT = '${issuer}/.well-known/jwks.json'`,
      },
      {
        name: 'urls.py',
        language: 'python',
        code: () => `urlpatterns += [path('oidc/', include('mozilla_django_oidc.urls'))]`,
      },
    ],
    sources: ['https://mozilla-django-oidc.readthedocs.io/en/stable/installation.html'],
  },
  {
    id: 'django-allauth',
    name: 'Django allauth',
    words: 'python framework',
    address: 'https://app.example.com',
    redirectUris: ['/accounts/oidc/latchkey/login/callback/'],
    algorithm: 'RS256',
    requiresPkce: true,
    scope: 'openid profile email',
    pkce: '`OAUTH_PKCE_ENABLED`',
    withoutRefresh: true,
    settings: [
      {
        name: 'settings.py',
        language: 'python',
        code: ({
          issuer,
          clientId,
          clientSecret,
        }) => `INSTALLED_APPS += ['allauth.socialaccount.providers.openid_connect']
SOCIALACCOUNT_PROVIDERS = {
    'openid_connect': {
        'SCOPE': ['openid', 'profile', 'email'],
        'OAUTH_PKCE_ENABLED': True,
        'APPS': [{
            'provider_id': 'latchkey',
            'name': 'Latchkey',
            'client_id': '${clientId}',
            'secret': '${clientSecret}',
            'settings': {'server_url': '${issuer}'},
        }],
    }
}`,
      },
    ],
    sources: ['https://docs.allauth.org/en/latest/socialaccount/providers/openid_connect.html'],
  },
  {
    id: 'mastodon',
    name: 'Mastodon',
    words: 'social network fediverse',
    address: 'https://social.example.com',
    redirectUris: ['/auth/auth/openid_connect/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'none',
    withoutRefresh: true,
    settings: [
      {
        name: '.env.production',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret, address }) => `OIDC_ENABLED=true
OIDC_DISPLAY_NAME=Latchkey
OIDC_DISCOVERY=true
OIDC_ISSUER=${issuer}
OIDC_SCOPE=openid,profile,email
OIDC_UID_FIELD=preferred_username
OIDC_CLIENT_ID=${clientId}
OIDC_CLIENT_SECRET=${clientSecret}
OIDC_REDIRECT_URI=${address}/auth/auth/openid_connect/callback
OIDC_SECURITY_ASSUME_EMAIL_IS_VERIFIED=true`,
      },
    ],
    sources: [
      'https://docs.joinmastodon.org/admin/config/',
      'https://www.authelia.com/integration/openid-connect/clients/mastodon/',
    ],
  },
  {
    id: 'matrix-synapse',
    name: 'Matrix Synapse',
    words: 'chat element messages',
    address: 'https://matrix.example.com',
    redirectUris: ['/_synapse/client/oidc/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    groups: '`attribute_requirements`',
    pkce: 'by version',
    withoutRefresh: true,
    settings: [
      {
        name: 'homeserver.yaml',
        language: 'yaml',
        code: ({ issuer, clientId, clientSecret }) => `oidc_providers:
  - idp_id: latchkey
    idp_name: Latchkey
    discover: true
    issuer: "${issuer}"
    client_id: "${clientId}"
    client_secret: "${clientSecret}"
    scopes: ["openid", "profile", "email"]
    user_mapping_provider:
      config:
        subject_template: "{{ user.sub }}"
        localpart_template: "{{ user.preferred_username }}"
        display_name_template: "{{ user.name }}"
        email_template: "{{ user.email }}"`,
      },
    ],
    sources: [
      'https://element-hq.github.io/synapse/latest/openid.html',
      'https://www.authelia.com/integration/openid-connect/clients/synapse/',
    ],
  },
  {
    id: 'gatus',
    name: 'Gatus',
    words: 'status page health',
    address: 'https://status.example.com',
    redirectUris: ['/authorization-code/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'not documented',
    withoutRefresh: true,
    settings: [
      {
        name: 'config.yaml',
        language: 'yaml',
        code: ({ issuer, clientId, clientSecret, address }) => `security:
  oidc:
    issuer-url: ${issuer}
    client-id: ${clientId}
    client-secret: ${clientSecret}
    redirect-url: ${address}/authorization-code/callback
    scopes: ["openid", "profile", "email"]`,
      },
    ],
    sources: ['https://github.com/TwiN/gatus', 'https://www.authelia.com/integration/openid-connect/clients/gatus/'],
  },
];
