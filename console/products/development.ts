import type { Product } from './product.ts';

const discovery = (issuer: string) => `${issuer}/.well-known/openid-configuration`;

/** Code, builds and clusters. */
export const development: readonly Product[] = [
  {
    id: 'grafana',
    name: 'Grafana',
    words: 'dashboards metrics monitoring',
    address: 'https://grafana.example.com',
    redirectUris: ['/login/generic_oauth'],
    postLogoutRedirectUris: ['/login'],
    algorithm: 'RS256',
    scope: 'openid profile email groups roles',
    groups: '`groups_attribute_path`, `role_attribute_path`',
    pkce: '`use_pkce`',
    roles: ['admin', 'editor'],
    settings: [
      {
        name: 'grafana.ini',
        language: 'ini',
        code: ({ issuer, clientId, clientSecret, address, encoded }) => `[server]
root_url = ${address}/

[auth.generic_oauth]
enabled = true
name = Latchkey
client_id = ${clientId}
client_secret = ${clientSecret}
scopes = openid profile email groups roles
auth_url = ${issuer}/authorize
token_url = ${issuer}/oauth2/token
api_url = ${issuer}/userinfo
signout_redirect_url = ${issuer}/oauth2/end_session?client_id=${clientId}&post_logout_redirect_uri=${encoded(`${address}/login`)}
use_pkce = true
use_refresh_token = true
login_attribute_path = preferred_username
groups_attribute_path = groups
role_attribute_path = contains(roles[*], 'admin') && 'Admin' || contains(roles[*], 'editor') && 'Editor' || 'Viewer'`,
      },
    ],
    sources: [
      'https://grafana.com/docs/grafana/latest/setup-grafana/configure-access/configure-authentication/generic-oauth/',
    ],
  },
  {
    id: 'gitlab',
    name: 'GitLab',
    words: 'git code ci',
    address: 'https://gitlab.example.com',
    redirectUris: ['/users/auth/openid_connect/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`groups_attribute`',
    pkce: '`pkce`',
    settings: [
      {
        name: 'gitlab.rb',
        language: 'ruby',
        code: ({ issuer, clientId, clientSecret, address }) => `gitlab_rails['omniauth_providers'] = [
  { name: "openid_connect", label: "Latchkey", args: {
    name: "openid_connect", scope: ["openid", "profile", "email", "groups"], response_type: "code",
    issuer: "${issuer}", discovery: true, client_auth_method: "query", uid_field: "sub", pkce: true,
    client_options: { identifier: "${clientId}", secret: "${clientSecret}",
      redirect_uri: "${address}/users/auth/openid_connect/callback",
      gitlab: { groups_attribute: "groups", required_groups: ["Developers"] } } } }
]`,
      },
    ],
    sources: ['https://docs.gitlab.com/administration/auth/oidc/'],
  },
  {
    id: 'gitea',
    name: 'Gitea',
    words: 'git code',
    address: 'https://git.example.com',
    redirectUris: ['/user/oauth2/latchkey/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`--group-claim-name`',
    pkce: 'not documented',
    settings: [
      {
        name: 'Shell',
        language: 'sh',
        code: ({
          issuer,
          clientId,
          clientSecret,
        }) => `gitea admin auth add-oauth --name latchkey --provider openidConnect \\
  --key ${clientId} --secret ${clientSecret} \\
  --auto-discover-url ${discovery(issuer)} \\
  --scopes openid --scopes profile --scopes email --scopes groups --group-claim-name groups --admin-group gitea-admins`,
      },
    ],
    sources: ['https://docs.gitea.com/administration/command-line'],
  },
  {
    id: 'forgejo',
    name: 'Forgejo',
    words: 'git code codeberg',
    address: 'https://git.example.com',
    redirectUris: ['/user/oauth2/latchkey/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`--group-claim-name`',
    pkce: 'not documented',
    settings: [
      {
        name: 'Shell',
        language: 'sh',
        code: ({
          issuer,
          clientId,
          clientSecret,
        }) => `forgejo admin auth add-oauth --name latchkey --provider openidConnect \\
  --key ${clientId} --secret ${clientSecret} \\
  --auto-discover-url ${discovery(issuer)} \\
  --scopes openid --scopes profile --scopes email --scopes groups --group-claim-name groups --admin-group forgejo-admins`,
      },
    ],
    sources: ['https://forgejo.org/docs/latest/admin/command-line/'],
  },
  {
    id: 'argo-cd',
    name: 'Argo CD',
    words: 'kubernetes deployment gitops',
    address: 'https://argocd.example.com',
    redirectUris: ['/auth/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '`groups` in RBAC',
    pkce: '`enablePKCEAuthentication`',
    settings: [
      {
        name: 'argocd-cm',
        language: 'yaml',
        code: ({ issuer, clientId, address }) => `url: ${address}
oidc.config: |
  name: Latchkey
  issuer: ${issuer}
  clientID: ${clientId}
  clientSecret: $oidc.latchkey.clientSecret
  enablePKCEAuthentication: true
  requestedScopes: ["openid", "profile", "email", "groups"]`,
      },
      {
        name: 'argocd-secret',
        language: 'yaml',
        code: ({ clientSecret }) => `stringData:
  oidc.latchkey.clientSecret: ${clientSecret}`,
      },
      {
        name: 'argocd-rbac-cm',
        language: 'yaml',
        code: () => `policy.csv: |
  g, platform-admins, role:admin`,
      },
    ],
    sources: ['https://argo-cd.readthedocs.io/en/stable/operator-manual/user-management/'],
  },
  {
    id: 'kubernetes',
    name: 'Kubernetes',
    words: 'kubectl kubelogin api server cluster k8s',
    address: null,
    redirectUris: ['http://localhost:8000', 'http://localhost:18000'],
    isNative: true,
    isPublic: true,
    algorithm: 'RS256',
    scope: 'openid profile groups offline_access',
    groups: '`claimMappings.groups`',
    pkce: 'by plugin',
    settings: [
      {
        name: 'AuthenticationConfiguration',
        language: 'yaml',
        code: ({ issuer, clientId }) => `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
  - issuer:
      url: ${issuer}
      audiences: ["${clientId}"]
    claimMappings:
      username: { claim: preferred_username, prefix: "oidc:" }
      groups: { claim: groups, prefix: "oidc:" }`,
      },
      {
        name: 'kubectl',
        language: 'sh',
        code: ({ issuer, clientId }) => `kubectl config set-credentials latchkey \\
  --exec-api-version=client.authentication.k8s.io/v1 --exec-interactive-mode=Never \\
  --exec-command=kubectl --exec-arg=oidc-login --exec-arg=get-token \\
  --exec-arg=--oidc-issuer-url=${issuer} --exec-arg=--oidc-client-id=${clientId} \\
  --exec-arg=--oidc-extra-scope=profile --exec-arg=--oidc-extra-scope=groups --exec-arg=--oidc-extra-scope=offline_access`,
      },
    ],
    sources: [
      'https://kubernetes.io/docs/reference/access-authn-authz/authentication/#openid-connect-tokens',
      'https://github.com/int128/kubelogin',
    ],
  },
  {
    id: 'vault',
    name: 'Vault',
    words: 'hashicorp openbao secrets',
    address: 'https://vault.example.com',
    redirectUris: ['/ui/vault/auth/oidc/oidc/callback', 'http://localhost:8250/oidc/callback'],
    algorithm: 'RS256',
    scope: 'profile groups',
    groups: '`groups_claim`',
    pkce: 'always',
    withoutRefresh: true,
    settings: [
      {
        name: 'Shell',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret, address }) => `vault auth enable oidc
vault write auth/oidc/config oidc_discovery_url=${issuer} default_role=user \\
  oidc_client_id=${clientId} oidc_client_secret=${clientSecret}
vault write auth/oidc/role/user user_claim=sub groups_claim=groups oidc_scopes=profile,groups token_policies=default \\
  allowed_redirect_uris=${address}/ui/vault/auth/oidc/oidc/callback \\
  allowed_redirect_uris=http://localhost:8250/oidc/callback`,
      },
    ],
    sources: ['https://developer.hashicorp.com/vault/docs/auth/jwt'],
  },
  {
    id: 'jenkins',
    name: 'Jenkins',
    words: 'ci builds',
    address: 'https://jenkins.example.com',
    redirectUris: ['/securityRealm/finishLogin'],
    algorithm: 'RS256',
    scope: 'openid profile email groups',
    groups: '*Groups field name*',
    pkce: 'by version',
    settings: [
      {
        name: 'Manage Jenkins, Security',
        fields: ({ issuer, clientId, clientSecret }) => [
          ['Client ID', clientId],
          ['Client secret', clientSecret],
          ['Well-known configuration endpoint', discovery(issuer)],
          ['Override scopes', 'openid profile email groups'],
          ['User name field name', 'preferred_username'],
          ['Full name field name', 'name'],
          ['Email field name', 'email'],
          ['Groups field name', 'groups'],
        ],
      },
    ],
    sources: ['https://plugins.jenkins.io/oic-auth/'],
  },
  {
    id: 'harbor',
    name: 'Harbor',
    words: 'container registry images',
    address: 'https://harbor.example.com',
    redirectUris: ['/c/oidc/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email groups offline_access',
    groups: '*Group claim name*',
    pkce: 'not documented',
    settings: [
      {
        name: 'Configuration, Authentication',
        fields: ({ issuer, clientId, clientSecret }) => [
          ['Auth mode', 'OIDC'],
          ['OIDC provider name', 'Latchkey'],
          ['OIDC endpoint', issuer],
          ['OIDC client ID', clientId],
          ['OIDC client secret', clientSecret],
          ['Group claim name', 'groups'],
          ['OIDC admin group', 'harbor-admins'],
          ['OIDC scope', 'openid,profile,email,groups,offline_access'],
          ['Username claim', 'preferred_username'],
        ],
      },
    ],
    sources: ['https://goharbor.io/docs/main/administration/configure-authentication/oidc-auth/'],
  },
  {
    id: 'backstage',
    name: 'Backstage',
    words: 'developer portal spotify',
    address: 'https://backstage.example.com',
    redirectUris: ['/api/auth/oidc/handler/frame'],
    algorithm: 'RS256',
    scope: 'openid profile email',
    pkce: 'none',
    settings: [
      {
        name: 'app-config.yaml',
        language: 'yaml',
        code: ({ issuer, clientId, clientSecret }) => `auth:
  environment: production
  session:
    secret: \${AUTH_SESSION_SECRET}
  providers:
    oidc:
      production:
        metadataUrl: ${discovery(issuer)}
        clientId: ${clientId}
        clientSecret: ${clientSecret}
        prompt: auto
        signIn:
          resolvers:
            - resolver: emailMatchingUserEntityProfileEmail`,
      },
    ],
    sources: ['https://backstage.io/docs/auth/oidc'],
  },
  {
    id: 'coder',
    name: 'Coder',
    words: 'workspaces development',
    address: 'https://coder.example.com',
    redirectUris: ['/api/v2/users/oidc/callback'],
    algorithm: 'RS256',
    scope: 'openid profile email offline_access',
    pkce: 'not documented',
    settings: [
      {
        name: '.env',
        language: 'sh',
        code: ({ issuer, clientId, clientSecret, address }) => `CODER_ACCESS_URL=${address}
CODER_OIDC_ISSUER_URL=${issuer}
CODER_OIDC_CLIENT_ID=${clientId}
CODER_OIDC_CLIENT_SECRET=${clientSecret}
CODER_OIDC_SCOPES=openid,profile,email,offline_access
CODER_OIDC_USERNAME_FIELD=preferred_username
CODER_OIDC_SIGN_IN_TEXT="Sign in with Latchkey"`,
      },
    ],
    sources: ['https://coder.com/docs/admin/users/oidc-auth'],
  },
];
