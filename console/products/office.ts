import type { Product } from './product.ts';

const discovery = (issuer: string) => `${issuer}/.well-known/openid-configuration`;

/** Documents, wikis, tasks and help desks. */
export const office: readonly Product[] = [
  {
    id: 'nextcloud',
    name: 'Nextcloud',
    words: 'files cloud',
    address: 'https://cloud.example.com',
    redirectUris: ['/apps/user_oidc/code'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`--mapping-groups`',
    pkce: 'by version',
    settings: [
      {
        name: 'Shell',
        language: 'sh',
        code: ({
          issuer,
          clientId,
          clientSecret,
        }) => `occ user_oidc:provider latchkey --clientid=${clientId} --clientsecret=${clientSecret} \\
  --discoveryuri=${discovery(issuer)} \\
  --scope="openid email profile groups" --mapping-uid=sub --group-provisioning=1 --mapping-groups=groups`,
      },
    ],
    sources: ['https://github.com/nextcloud/user_oidc'],
  },
  {
    id: 'outline',
    name: 'Outline',
    words: 'wiki notes',
    address: 'https://docs.example.com',
    redirectUris: ['/auth/oidc.callback'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    groups: 'none',
    pkce: 'not documented',
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret }) => `OIDC_CLIENT_ID=${clientId}
OIDC_CLIENT_SECRET=${clientSecret}
OIDC_AUTH_URI=${issuer}/authorize
OIDC_TOKEN_URI=${issuer}/oauth2/token
OIDC_USERINFO_URI=${issuer}/userinfo
OIDC_LOGOUT_URI=${issuer}/oauth2/end_session
OIDC_USERNAME_CLAIM=preferred_username
OIDC_SCOPES="openid profile email"`,
      },
    ],
    sources: ['https://docs.getoutline.com/s/hosting/doc/oidc-8CPBm6uC0I'],
  },
  {
    id: 'bookstack',
    name: 'BookStack',
    words: 'wiki documentation',
    address: 'https://wiki.example.com',
    redirectUris: ['/oidc/callback'],
    algorithm: 'RS256',
    requiresPkce: true,
    scope: 'openid profile email groups',
    groups: '`OIDC_GROUPS_CLAIM`',
    pkce: 'always',
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret }) => `AUTH_METHOD=oidc
OIDC_NAME=Latchkey
OIDC_ISSUER=${issuer}
OIDC_ISSUER_DISCOVER=true
OIDC_CLIENT_ID=${clientId}
OIDC_CLIENT_SECRET=${clientSecret}
OIDC_DISPLAY_NAME_CLAIMS=name
OIDC_ADDITIONAL_SCOPES=groups
OIDC_GROUPS_CLAIM=groups
OIDC_USER_TO_GROUPS=true
OIDC_END_SESSION_ENDPOINT=false`,
      },
    ],
    sources: [
      'https://www.bookstackapp.com/docs/admin/oidc-auth/',
      'https://www.authelia.com/integration/openid-connect/clients/bookstack/',
    ],
  },
  {
    id: 'hedgedoc',
    name: 'HedgeDoc',
    words: 'markdown notes',
    address: 'https://pad.example.com',
    redirectUris: ['/auth/oauth2/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`CMD_OAUTH2_ROLES_CLAIM`',
    pkce: 'not documented',
    withoutRefresh: true,
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret }) => `CMD_OAUTH2_PROVIDERNAME=Latchkey
CMD_OAUTH2_CLIENT_ID=${clientId}
CMD_OAUTH2_CLIENT_SECRET=${clientSecret}
CMD_OAUTH2_AUTHORIZATION_URL=${issuer}/authorize
CMD_OAUTH2_TOKEN_URL=${issuer}/oauth2/token
CMD_OAUTH2_USER_PROFILE_URL=${issuer}/userinfo
CMD_OAUTH2_SCOPE="openid profile email groups"
CMD_OAUTH2_USER_PROFILE_USERNAME_ATTR=preferred_username
CMD_OAUTH2_USER_PROFILE_DISPLAY_NAME_ATTR=name
CMD_OAUTH2_USER_PROFILE_EMAIL_ATTR=email
CMD_OAUTH2_ROLES_CLAIM=groups`,
      },
    ],
    sources: [
      'https://docs.hedgedoc.org/configuration/',
      'https://www.authelia.com/integration/openid-connect/clients/hedge-doc/',
    ],
  },
  {
    id: 'dokuwiki',
    name: 'DokuWiki',
    words: 'wiki oauthgeneric',
    address: 'https://wiki.example.com',
    redirectUris: ['/doku.php'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`json-grps`',
    pkce: 'none',
    settings: [
      {
        name: 'Configuration, plugin oauthgeneric',
        fields: ({ issuer, clientId, clientSecret }) => [
          ['key', clientId],
          ['secret', clientSecret],
          ['authurl', `${issuer}/authorize`],
          ['tokenurl', `${issuer}/oauth2/token`],
          ['userurl', `${issuer}/userinfo`],
          ['authmethod', 'Bearer Header'],
          ['scopes', 'openid,profile,email,groups'],
          ['needs-state', 'on'],
          ['json-user', 'preferred_username'],
          ['json-name', 'name'],
          ['json-mail', 'email'],
          ['json-grps', 'groups'],
          ['label', 'Latchkey'],
        ],
      },
    ],
    sources: [
      'https://www.dokuwiki.org/plugin:oauthgeneric',
      'https://www.authelia.com/integration/openid-connect/clients/dokuwiki/',
    ],
  },
  {
    id: 'mediawiki',
    name: 'MediaWiki',
    words: 'wiki pluggableauth',
    address: 'https://wiki.example.com',
    redirectUris: ['/index.php/Special:PluggableAuthLogin'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'not documented',
    withoutRefresh: true,
    settings: [
      {
        name: 'LocalSettings.php',
        language: 'php',
        code: ({ issuer, clientId, clientSecret }) => `wfLoadExtension( 'PluggableAuth' );
wfLoadExtension( 'OpenIDConnect' );
$wgPluggableAuth_Config['Latchkey'] = [
  'plugin' => 'OpenIDConnect',
  'data' => [
    'providerURL' => '${issuer}',
    'clientID' => '${clientId}',
    'clientsecret' => '${clientSecret}',
    'scope' => [ 'openid', 'profile', 'email' ],
  ],
];`,
      },
    ],
    sources: ['https://www.mediawiki.org/wiki/Extension:OpenID_Connect'],
  },
  {
    id: 'kanboard',
    name: 'Kanboard',
    words: 'tasks board oauth2 plugin',
    address: 'https://kanboard.example.com',
    redirectUris: ['/oauth/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'none',
    withoutRefresh: true,
    settings: [
      {
        name: 'Settings, Integrations, OAuth2',
        fields: ({ issuer, clientId, clientSecret }) => [
          ['Client ID', clientId],
          ['Client Secret', clientSecret],
          ['Authorize URL', `${issuer}/authorize`],
          ['Token URL', `${issuer}/oauth2/token`],
          ['User API URL', `${issuer}/userinfo`],
          ['Scopes', 'openid profile email'],
          ['Username Key', 'preferred_username'],
          ['Name Key', 'name'],
          ['Email Key', 'email'],
          ['User ID Key', 'sub'],
        ],
      },
    ],
    sources: [
      'https://github.com/kanboard/plugin-oauth2',
      'https://www.authelia.com/integration/openid-connect/clients/kanboard/',
    ],
  },
  {
    id: 'vikunja',
    name: 'Vikunja',
    words: 'tasks todo',
    address: 'https://tasks.example.com',
    redirectUris: ['/auth/openid/latchkey'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'not documented',
    withoutRefresh: true,
    settings: [
      {
        name: 'config.yml',
        language: 'yaml',
        code: ({ issuer, clientId, clientSecret }) => `auth:
  openid:
    enabled: true
    providers:
      latchkey:
        name: Latchkey
        authurl: ${issuer}
        clientid: ${clientId}
        clientsecret: ${clientSecret}
        scope: openid profile email`,
      },
    ],
    sources: [
      'https://vikunja.io/docs/openid/',
      'https://www.authelia.com/integration/openid-connect/clients/vikunja/',
    ],
  },
  {
    id: 'wordpress',
    name: 'WordPress',
    words: 'blog website openid connect generic',
    address: 'https://www.example.com',
    redirectUris: ['/wp-admin/admin-ajax.php?action=openid-connect-authorize'],
    postLogoutRedirectUris: ['/'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'none',
    settings: [
      {
        name: 'Settings, OpenID Connect Client',
        fields: ({ issuer, clientId, clientSecret }) => [
          ['Client ID', clientId],
          ['Client Secret Key', clientSecret],
          ['OpenID Scope', 'openid profile email'],
          ['Login Endpoint URL', `${issuer}/authorize`],
          ['Userinfo Endpoint URL', `${issuer}/userinfo`],
          ['Token Validation Endpoint URL', `${issuer}/oauth2/token`],
          ['End Session Endpoint URL', `${issuer}/oauth2/end_session`],
          ['Identity Key', 'sub'],
          ['Nickname Key', 'preferred_username'],
          ['Email Formatting', '{email}'],
          ['Display Name Formatting', '{name}'],
        ],
      },
    ],
    sources: [
      'https://wordpress.org/plugins/daggerhart-openid-connect-generic/',
      'https://www.authelia.com/integration/openid-connect/clients/wordpress/',
    ],
  },
  {
    id: 'zammad',
    name: 'Zammad',
    words: 'help desk tickets support',
    address: 'https://help.example.com',
    redirectUris: ['/auth/openid_connect/callback'],
    isPublic: true,
    algorithm: 'RS256',
    scope: 'openid email profile',
    pkce: '*PKCE*',
    withoutRefresh: true,
    settings: [
      {
        name: 'Settings, Security, Third-party applications',
        fields: ({ issuer, clientId }) => [
          ['Display name', 'Latchkey'],
          ['Identifier', clientId],
          ['Issuer', issuer],
          ['UID Field', 'sub'],
          ['Scopes', 'openid, email, profile'],
          ['PKCE', 'yes'],
        ],
      },
    ],
    sources: ['https://www.authelia.com/integration/openid-connect/clients/zammad/'],
  },
  {
    id: 'paperless-ngx',
    name: 'Paperless-ngx',
    words: 'documents scans archive',
    address: 'https://paperless.example.com',
    redirectUris: ['/accounts/oidc/latchkey/login/callback/'],
    algorithm: 'RS256',
    requiresPkce: true,
    scope: 'openid profile email',
    pkce: '`OAUTH_PKCE_ENABLED`',
    withoutRefresh: true,
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret }) => `PAPERLESS_APPS=allauth.socialaccount.providers.openid_connect
PAPERLESS_SOCIALACCOUNT_PROVIDERS='{"openid_connect": {"SCOPE": ["openid", "profile", "email"], "OAUTH_PKCE_ENABLED": true, "APPS": [{"provider_id": "latchkey", "name": "Latchkey", "client_id": "${clientId}", "secret": "${clientSecret}", "settings": {"server_url": "${issuer}"}}]}}'`,
      },
    ],
    sources: [
      'https://docs.paperless-ngx.com/advanced_usage/#openid-connect-and-social-authentication',
      'https://www.authelia.com/integration/openid-connect/clients/paperless/',
    ],
  },
];
