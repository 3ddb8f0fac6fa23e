/** Paths at the base issuer, at custom domains, and at the issuers of projects, there after `/p/:slug`. */
const ofIssuers = [
  '/.well-known/openid-configuration',
  '/.well-known/jwks.json',
  '/authorize',
  '/authorize/resume',
  '/authorize/consent',
  '/oauth2/token',
  '/oauth2/revoke',
  '/oauth2/introspect',
  '/oauth2/par',
  '/oauth2/device_authorization',
  '/oauth2/end_session',
  '/userinfo',
  '/device',
  '/device/approval',
];

/** Other paths. A test compares all with the routes of the application. */
const others = [
  '/',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-authorization-server/p/:slug',
  '/.well-known/webauthn',
  '/.well-known/passkey-endpoints',
  '/signin',
  '/account',
  '/setup',
  '/status',
  '/experience/of/:key',
  '/experience/logos/:id',
  '/experience/accent/1/:color.css',
  '/v1/signin/:step',
  '/v1/delegation',
  '/admin/graphql',
  '/openapi.json',
  '/openapi',
  '/v1/scim/:project',
  ...['ServiceProviderConfig', 'Bulk', '.search', 'Me'].map((name) => `/v1/scim/:project/${name}`),
  ...['Users', 'Groups', 'Roles', 'Entitlements', 'Schemas', 'ResourceTypes'].flatMap((name) =>
    ['', '/.search', '/:id'].map((rest) => `/v1/scim/:project/${name}${rest}`),
  ),
];

/** Each has one label, and so do the paths below it. */
const folders = ['/admin', '/assets', '/messages', '/sdk', '/setup', '/demo', '/account', '/signin'];

const templates = [...ofIssuers, ...ofIssuers.map((path) => `/p/:slug${path}`), ...others];
const fixed = new Set(templates.filter((template) => !template.includes(':')));
/** The earlier ones first: `/.search` is no id. */
const patterns = templates
  .filter((template) => template.includes(':'))
  .map((template): [RegExp, string] => {
    const segments = template.replaceAll('.', '\\.').replace(/:step\b/, '[a-z-]{1,32}');
    return [new RegExp(`^${segments.replace(/:\w+/g, '[^/]+')}$`), template];
  });

/**
 * Low-cardinality label of a path for metrics and traces: the template of its route. Never contains caller input such as ids
 * or tokens.
 */
export function routeLabel(path: string): string {
  if (fixed.has(path)) return path;
  const isScim = path.startsWith('/v1/scim/');
  // SCIM accepts doubled slashes.
  const plain = isScim ? path.replace(/\/{2,}/g, '/') : path;
  const found = patterns.find(([pattern]) => pattern.test(plain));
  if (found) return found[1];
  if (isScim) return '/v1/scim/other';
  return folders.find((folder) => path === folder || path.startsWith(`${folder}/`))?.concat('/*') ?? 'other';
}
