/** Paths used as their own label. */
const fixed = new Set([
  '/.well-known/openid-configuration',
  '/.well-known/jwks.json',
  '/.well-known/webauthn',
  '/.well-known/passkey-endpoints',
  '/authorize',
  '/authorize/resume',
  '/oauth2/token',
  '/oauth2/end_session',
  '/userinfo',
  '/signin',
  '/account',
  '/setup',
  '/v1/delegation',
  '/admin/graphql',
  '/openapi.json',
  '/openapi',
]);
const signInSteps = /^\/v1\/signin\/[a-z-]{1,32}$/;
const scim =
  /^\/v1\/scim\/[^/]+(?:\/(Users|Groups|Schemas|ResourceTypes|ServiceProviderConfig|Bulk|\.search|Me))?(\/[^/]+)?$/;
const folders = ['/admin', '/assets', '/messages', '/setup', '/demo', '/account', '/signin'];

/**
 * Low-cardinality label of a path for metrics and traces. Never contains caller input such as ids or tokens.
 */
export function routeLabel(path: string): string {
  const ofProject = /^\/p\/[^/]+(\/.*)$/.exec(path)?.[1];
  if (ofProject !== undefined) return fixed.has(ofProject) ? `/p/:slug${ofProject}` : 'other';
  if (fixed.has(path)) return path;
  if (signInSteps.test(path)) return '/v1/signin/:step';
  const found = scim.exec(path.replace(/\/{2,}/g, '/'));
  if (found) {
    const [, resource, rest] = found;
    if (resource === undefined) return rest === undefined ? '/v1/scim/:project' : '/v1/scim/other';
    return `/v1/scim/:project/${resource}${rest === undefined ? '' : rest === '/.search' ? rest : '/:id'}`;
  }
  return folders.find((folder) => path === folder || path.startsWith(`${folder}/`))?.concat('/*') ?? 'other';
}
