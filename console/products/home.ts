import type { Product } from './product.ts';

const discovery = (issuer: string) => `${issuer}/.well-known/openid-configuration`;

/** Media, reading and the household. */
export const home: readonly Product[] = [
  {
    id: 'immich',
    name: 'Immich',
    words: 'photos pictures',
    address: 'https://photos.example.com',
    redirectUris: ['/auth/login', '/user-settings', '/api/oauth/mobile-redirect'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    groups: '*Role claim*',
    pkce: 'by version',
    withoutRefresh: true,
    settings: [
      {
        name: 'Administration, Settings, OAuth',
        fields: ({ issuer, clientId, clientSecret, address }) => [
          ['Issuer URL', issuer],
          ['Client ID', clientId],
          ['Client secret', clientSecret],
          ['Scope', 'openid profile email'],
          ['Signing algorithm', 'RS256'],
          ['Mobile redirect URI override', `${address}/api/oauth/mobile-redirect`],
        ],
      },
    ],
    sources: ['https://docs.immich.app/administration/oauth'],
  },
  {
    id: 'jellyfin',
    name: 'Jellyfin',
    words: 'movies music media sso plugin',
    address: 'https://jellyfin.example.com',
    redirectUris: ['/sso/OID/redirect/latchkey'],
    algorithm: 'RS256',
    scope: 'openid profile groups',
    groups: '`roleClaim`',
    pkce: 'by plugin',
    withoutRefresh: true,
    settings: [
      {
        name: 'Plugins, SSO-Auth',
        fields: ({ issuer, clientId, clientSecret }) => [
          ['Name of OpenID Provider', 'latchkey'],
          ['OpenID Endpoint', issuer],
          ['OpenID Client ID', clientId],
          ['OpenID Secret', clientSecret],
          ['Role Claim', 'groups'],
          ['Roles', 'jellyfin-users'],
          ['Admin Roles', 'jellyfin-admins'],
          ['Request Additional Scopes', 'groups'],
        ],
      },
    ],
    sources: [
      'https://github.com/9p4/jellyfin-plugin-sso',
      'https://www.authelia.com/integration/openid-connect/clients/jellyfin/',
    ],
  },
  {
    id: 'audiobookshelf',
    name: 'Audiobookshelf',
    words: 'audiobooks podcasts',
    address: 'https://books.example.com',
    redirectUris: ['/auth/openid/callback', '/auth/openid/mobile-redirect'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'always',
    withoutRefresh: true,
    settings: [
      {
        name: 'Settings, Authentication',
        fields: ({ issuer, clientId, clientSecret }) => [
          ['Issuer URL', issuer],
          ['Authorize URL', `${issuer}/authorize`],
          ['Token URL', `${issuer}/oauth2/token`],
          ['Userinfo URL', `${issuer}/userinfo`],
          ['JWKS URL', `${issuer}/.well-known/jwks.json`],
          ['Logout URL', `${issuer}/oauth2/end_session`],
          ['Client ID', clientId],
          ['Client Secret', clientSecret],
          ['Signing Algorithm', 'RS256'],
          ['Allowed Mobile Redirect URIs', 'audiobookshelf://oauth'],
        ],
      },
    ],
    sources: [
      'https://www.audiobookshelf.org/guides/oidc_authentication/',
      'https://www.authelia.com/integration/openid-connect/clients/audiobookshelf/',
    ],
  },
  {
    id: 'mealie',
    name: 'Mealie',
    words: 'recipes cooking',
    address: 'https://mealie.example.com',
    redirectUris: ['/login'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`OIDC_ADMIN_GROUP`, `OIDC_USER_GROUP`',
    pkce: 'always',
    withoutRefresh: true,
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret }) => `OIDC_AUTH_ENABLED=true
OIDC_SIGNUP_ENABLED=true
OIDC_PROVIDER_NAME=Latchkey
OIDC_CONFIGURATION_URL=${discovery(issuer)}
OIDC_CLIENT_ID=${clientId}
OIDC_CLIENT_SECRET=${clientSecret}
OIDC_ADMIN_GROUP=mealie-admins
OIDC_USER_GROUP=mealie-users`,
      },
    ],
    sources: [
      'https://docs.mealie.io/documentation/getting-started/authentication/oidc-v2/',
      'https://www.authelia.com/integration/openid-connect/clients/mealie/',
    ],
  },
  {
    id: 'home-assistant',
    name: 'Home Assistant',
    words: 'smart home automation auth_oidc hacs',
    address: 'https://home.example.com',
    redirectUris: ['/auth/oidc/callback'],
    isPublic: true,
    algorithm: 'RS256',
    scope: 'openid profile groups',
    groups: '`roles`',
    pkce: 'always',
    withoutRefresh: true,
    settings: [
      {
        name: 'configuration.yaml',
        language: 'yaml',
        code: ({ issuer, clientId }) => `auth_oidc:
  client_id: ${clientId}
  discovery_url: ${discovery(issuer)}
  display_name: Latchkey
  roles:
    admin: home-admins`,
      },
    ],
    sources: [
      'https://github.com/christiaangoossens/hass-oidc-auth',
      'https://www.authelia.com/integration/openid-connect/clients/home-assistant/',
    ],
  },
  {
    id: 'actual-budget',
    name: 'Actual Budget',
    words: 'money finance',
    address: 'https://budget.example.com',
    redirectUris: ['/openid/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'always',
    withoutRefresh: true,
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret, address }) => `ACTUAL_OPENID_DISCOVERY_URL=${issuer}
ACTUAL_OPENID_CLIENT_ID=${clientId}
ACTUAL_OPENID_CLIENT_SECRET=${clientSecret}
ACTUAL_OPENID_SERVER_HOSTNAME=${address}`,
      },
    ],
    sources: [
      'https://actualbudget.org/docs/config/oauth-auth/',
      'https://www.authelia.com/integration/openid-connect/clients/actual-budget/',
    ],
  },
  {
    id: 'miniflux',
    name: 'Miniflux',
    words: 'rss feeds reader',
    address: 'https://feeds.example.com',
    redirectUris: ['/oauth2/oidc/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'not documented',
    withoutRefresh: true,
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret, address }) => `OAUTH2_PROVIDER=oidc
OAUTH2_OIDC_PROVIDER_NAME=Latchkey
OAUTH2_OIDC_DISCOVERY_ENDPOINT=${issuer}
OAUTH2_CLIENT_ID=${clientId}
OAUTH2_CLIENT_SECRET=${clientSecret}
OAUTH2_REDIRECT_URL=${address}/oauth2/oidc/callback
OAUTH2_USER_CREATION=1`,
      },
    ],
    sources: [
      'https://miniflux.app/docs/howto.html',
      'https://www.authelia.com/integration/openid-connect/clients/miniflux/',
    ],
  },
  {
    id: 'linkding',
    name: 'Linkding',
    words: 'bookmarks',
    address: 'https://links.example.com',
    redirectUris: ['/oidc/callback/'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: '`OIDC_USE_PKCE`',
    withoutRefresh: true,
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret }) => `LD_ENABLE_OIDC=True
OIDC_OP_AUTHORIZATION_ENDPOINT=${issuer}/authorize
OIDC_OP_TOKEN_ENDPOINT=${issuer}/oauth2/token
OIDC_OP_USER_ENDPOINT=${issuer}/userinfo
OIDC_OP_JWKS_ENDPOINT=${issuer}/.well-known/jwks.json
OIDC_RP_CLIENT_ID=${clientId}
OIDC_RP_CLIENT_SECRET=${clientSecret}
OIDC_RP_SIGN_ALGO=RS256`,
      },
    ],
    sources: [
      'https://linkding.link/options/',
      'https://www.authelia.com/integration/openid-connect/clients/linkding/',
    ],
  },
  {
    id: 'karakeep',
    name: 'Karakeep',
    words: 'bookmarks hoarder',
    address: 'https://bookmarks.example.com',
    redirectUris: ['/api/auth/callback/custom'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'not documented',
    withoutRefresh: true,
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret, address }) => `NEXTAUTH_URL=${address}
OAUTH_WELLKNOWN_URL=${discovery(issuer)}
OAUTH_CLIENT_ID=${clientId}
OAUTH_CLIENT_SECRET=${clientSecret}
OAUTH_PROVIDER_NAME=Latchkey`,
      },
    ],
    sources: [
      'https://docs.karakeep.app/configuration/',
      'https://www.authelia.com/integration/openid-connect/clients/karakeep/',
    ],
  },
  {
    id: 'open-webui',
    name: 'Open WebUI',
    words: 'chat ai models',
    address: 'https://chat.example.com',
    redirectUris: ['/oauth/oidc/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`OAUTH_ROLES_CLAIM`',
    pkce: '`OAUTH_CODE_CHALLENGE_METHOD`',
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret, address }) => `WEBUI_URL=${address}
ENABLE_OAUTH_SIGNUP=true
OPENID_PROVIDER_URL=${discovery(issuer)}
OAUTH_PROVIDER_NAME=Latchkey
OAUTH_CLIENT_ID=${clientId}
OAUTH_CLIENT_SECRET=${clientSecret}
OAUTH_SCOPES="openid profile email groups"
OAUTH_CODE_CHALLENGE_METHOD=S256
ENABLE_OAUTH_ROLE_MANAGEMENT=true
OAUTH_ROLES_CLAIM=groups
OAUTH_ALLOWED_ROLES=webui-users
OAUTH_ADMIN_ROLES=webui-admins`,
      },
    ],
    sources: [
      'https://docs.openwebui.com/features/auth/sso/',
      'https://www.authelia.com/integration/openid-connect/clients/open-webui/',
    ],
  },
];
