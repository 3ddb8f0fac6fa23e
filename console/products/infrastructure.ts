import type { Product } from './product.ts';

const discovery = (issuer: string) => `${issuer}/.well-known/openid-configuration`;

/** Proxies, networks, storage and machines. */
export const infrastructure: readonly Product[] = [
  {
    id: 'oauth2-proxy',
    name: 'oauth2-proxy',
    words: 'reverse proxy',
    address: 'https://app.example.com',
    redirectUris: ['/oauth2/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`allowed_groups`',
    pkce: '`code_challenge_method`',
    settings: [
      {
        name: 'oauth2-proxy.cfg',
        language: 'toml',
        code: ({ issuer, clientId, clientSecret, address }) => `provider = "oidc"
oidc_issuer_url = "${issuer}"
client_id = "${clientId}"
client_secret = "${clientSecret}"
redirect_url = "${address}/oauth2/callback"
code_challenge_method = "S256"
scope = "openid profile email groups"
email_domains = ["*"]
allowed_groups = ["staff"]`,
      },
    ],
    sources: ['https://oauth2-proxy.github.io/oauth2-proxy/configuration/providers/openid_connect'],
  },
  {
    id: 'apache-httpd',
    name: 'Apache httpd',
    words: 'mod_auth_openidc web server',
    address: 'https://app.example.com',
    redirectUris: ['/protected/redirect_uri'],
    postLogoutRedirectUris: ['/'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`Require claim`',
    pkce: '`OIDCPKCEMethod`',
    settings: [
      {
        name: 'httpd.conf',
        language: 'apache',
        code: ({ issuer, clientId, clientSecret, address }) => `OIDCProviderMetadataURL ${discovery(issuer)}
OIDCClientID ${clientId}
OIDCClientSecret ${clientSecret}
OIDCRedirectURI ${address}/protected/redirect_uri
OIDCCryptoPassphrase "exec:/usr/bin/openssl rand -hex 32"
OIDCScope "openid profile email groups"
OIDCPKCEMethod S256
OIDCRemoteUserClaim preferred_username
<Location "/protected">
  AuthType openid-connect
  Require claim groups:staff
</Location>`,
      },
    ],
    sources: ['https://github.com/OpenIDC/mod_auth_openidc/blob/master/auth_openidc.conf'],
  },
  {
    id: 'nginx',
    name: 'nginx',
    words: 'lua-resty-openidc openresty web server',
    address: 'https://app.example.com',
    redirectUris: ['/redirect_uri'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: '`use_pkce`',
    settings: [
      {
        name: 'nginx.conf',
        language: 'lua',
        code: ({ issuer, clientId, clientSecret, address }) => `access_by_lua_block {
  local res, err = require("resty.openidc").authenticate({
    redirect_uri = "${address}/redirect_uri",
    discovery = "${discovery(issuer)}",
    client_id = "${clientId}",
    client_secret = "${clientSecret}",
    scope = "openid profile email",
    use_pkce = true,
    renew_access_token_on_expiry = true,
  })
  if err then
    ngx.log(ngx.ERR, err)
    ngx.exit(ngx.HTTP_FORBIDDEN)
  end
  ngx.req.set_header("X-User", res.id_token.sub)
}`,
      },
    ],
    sources: ['https://github.com/zmartzone/lua-resty-openidc'],
  },
  {
    id: 'cloudflare-access',
    name: 'Cloudflare Access',
    words: 'zero trust tunnel warp',
    address: 'https://acme.cloudflareaccess.com',
    redirectUris: ['/cdn-cgi/access/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    groups: 'OIDC claims',
    pkce: 'a switch',
    withoutRefresh: true,
    settings: [
      {
        name: 'Login methods, OpenID Connect',
        fields: ({ issuer, clientId, clientSecret }) => [
          ['Name', 'Latchkey'],
          ['App ID', clientId],
          ['Client secret', clientSecret],
          ['Auth URL', `${issuer}/authorize`],
          ['Token URL', `${issuer}/oauth2/token`],
          ['Certificate URL', `${issuer}/.well-known/jwks.json`],
          ['Proof Key for Code Exchange (PKCE)', 'on'],
        ],
      },
    ],
    sources: ['https://developers.cloudflare.com/cloudflare-one/integrations/identity-providers/generic-oidc/'],
  },
  {
    id: 'aws-alb',
    name: 'AWS ALB',
    words: 'amazon load balancer',
    address: 'https://app.example.com',
    redirectUris: ['/oauth2/idpresponse'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    groups: 'in the application',
    pkce: 'none',
    settings: [
      {
        name: 'authenticate-oidc',
        language: 'json',
        code: ({ issuer, clientId, clientSecret }) => `{
  "Type": "authenticate-oidc",
  "AuthenticateOidcConfig": {
    "Issuer": "${issuer}",
    "AuthorizationEndpoint": "${issuer}/authorize",
    "TokenEndpoint": "${issuer}/oauth2/token",
    "UserInfoEndpoint": "${issuer}/userinfo",
    "ClientId": "${clientId}",
    "ClientSecret": "${clientSecret}",
    "Scope": "openid profile email"
  }
}`,
      },
    ],
    sources: ['https://docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html'],
  },
  {
    id: 'minio',
    name: 'MinIO',
    words: 's3 object storage',
    address: 'https://minio.example.com',
    redirectUris: ['/oauth_callback'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    groups: 'claim `policy`',
    pkce: 'none',
    withoutRefresh: true,
    settings: [
      {
        name: 'Shell',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret }) => `mc idp openid add minio latchkey \\
  client_id="${clientId}" client_secret="${clientSecret}" claim_name="policy" scopes="openid,profile,email" \\
  config_url="${discovery(issuer)}"`,
      },
    ],
    sources: [
      'https://min.io/docs/minio/linux/operations/external-iam/configure-openid-external-identity-management.html',
    ],
  },
  {
    id: 'portainer',
    name: 'Portainer',
    words: 'docker containers',
    address: 'https://portainer.example.com',
    redirectUris: [''],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'none',
    withoutRefresh: true,
    settings: [
      {
        name: 'Settings, Authentication, OAuth, Custom',
        fields: ({ issuer, clientId, clientSecret, address }) => [
          ['Client ID', clientId],
          ['Client secret', clientSecret],
          ['Authorization URL', `${issuer}/authorize`],
          ['Access token URL', `${issuer}/oauth2/token`],
          ['Resource URL', `${issuer}/userinfo`],
          ['Redirect URL', address],
          ['User identifier', 'preferred_username'],
          ['Scopes', 'openid profile email'],
          ['Auth Style', 'In Params'],
        ],
      },
    ],
    sources: [
      'https://docs.portainer.io/admin/settings/authentication/oauth',
      'https://www.authelia.com/integration/openid-connect/clients/portainer/',
    ],
  },
  {
    id: 'proxmox-ve',
    name: 'Proxmox VE',
    words: 'virtual machines pve hypervisor',
    address: 'https://pve.example.com:8006',
    redirectUris: [''],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`--groups-claim`',
    pkce: 'always',
    withoutRefresh: true,
    settings: [
      {
        name: 'Shell',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret }) => `pveum realm add latchkey --type openid --issuer-url ${issuer} \\
  --client-id ${clientId} --client-key ${clientSecret} \\
  --username-claim username --scopes "openid profile email groups" --groups-claim groups --autocreate 1`,
      },
    ],
    sources: [
      'https://pve.proxmox.com/wiki/User_Management#pveum_openid',
      'https://www.authelia.com/integration/openid-connect/clients/proxmox/',
    ],
  },
  {
    id: 'pgadmin',
    name: 'pgAdmin',
    words: 'postgresql database',
    address: 'https://pgadmin.example.com',
    redirectUris: ['/oauth2/authorize'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: '`OAUTH2_CHALLENGE_METHOD`',
    withoutRefresh: true,
    settings: [
      {
        name: 'config_local.py',
        language: 'python',
        code: ({ issuer, clientId, clientSecret }) => `AUTHENTICATION_SOURCES = ['oauth2', 'internal']
OAUTH2_AUTO_CREATE_USER = True
OAUTH2_CONFIG = [{
    'OAUTH2_NAME': 'latchkey',
    'OAUTH2_DISPLAY_NAME': 'Latchkey',
    'OAUTH2_CLIENT_ID': '${clientId}',
    'OAUTH2_CLIENT_SECRET': '${clientSecret}',
    'OAUTH2_SERVER_METADATA_URL': '${discovery(issuer)}',
    'OAUTH2_AUTHORIZATION_URL': '${issuer}/authorize',
    'OAUTH2_TOKEN_URL': '${issuer}/oauth2/token',
    'OAUTH2_API_BASE_URL': '${issuer}/',
    'OAUTH2_USERINFO_ENDPOINT': 'userinfo',
    'OAUTH2_SCOPE': 'openid profile email',
    'OAUTH2_USERNAME_CLAIM': 'email',
    'OAUTH2_CHALLENGE_METHOD': 'S256',
    'OAUTH2_RESPONSE_TYPE': 'code',
}]`,
      },
    ],
    sources: [
      'https://www.pgadmin.org/docs/pgadmin4/latest/oauth2.html',
      'https://www.authelia.com/integration/openid-connect/clients/pgadmin/',
    ],
  },
  {
    id: 'tailscale',
    name: 'Tailscale',
    words: 'vpn network wireguard webfinger',
    address: null,
    redirectUris: ['https://login.tailscale.com/a/oauth_response'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'not documented',
    withoutRefresh: true,
    settings: [
      {
        name: '/.well-known/webfinger of your domain',
        language: 'json',
        code: ({ issuer }) => `{
  "subject": "acct:user@example.com",
  "links": [{ "rel": "http://openid.net/specs/connect/1.0/issuer", "href": "${issuer}" }]
}`,
      },
      {
        name: 'Sign up with OIDC',
        fields: ({ clientId, clientSecret }) => [
          ['Client ID', clientId],
          ['Client secret', clientSecret],
        ],
      },
    ],
    sources: [
      'https://tailscale.com/kb/1240/sso-custom-oidc',
      'https://www.authelia.com/integration/openid-connect/clients/tailscale/',
    ],
  },
  {
    id: 'headscale',
    name: 'Headscale',
    words: 'vpn network wireguard tailscale',
    address: 'https://headscale.example.com',
    redirectUris: ['/oidc/callback'],
    algorithm: 'RS256',
    requiresPkce: true,
    scope: 'openid profile email',
    groups: '`allowed_groups`',
    pkce: '`pkce`',
    withoutRefresh: true,
    settings: [
      {
        name: 'config.yaml',
        language: 'yaml',
        code: ({ issuer, clientId, clientSecret }) => `oidc:
  issuer: ${issuer}
  client_id: ${clientId}
  client_secret: ${clientSecret}
  scope: ["openid", "profile", "email"]
  pkce:
    enabled: true
    method: S256`,
      },
    ],
    sources: [
      'https://headscale.net/stable/ref/oidc/',
      'https://www.authelia.com/integration/openid-connect/clients/headscale/',
    ],
  },
];
