import type { Express } from 'express';

/** A layer of Express's router (the package `router`), limited to the members that are read here. */
interface Layer {
  rawPath?: string | RegExp;
  route?: { path: string; methods: Record<string, boolean> };
  handle: { stack?: Layer[] };
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * Every route of the application, as `METHOD /path/{parameter}`, `ANY` if its handler takes all methods, and handlers of a
 * folder as `ALL /folder`.
 */
export function mountedRoutes(app: Express): string[] {
  return [...new Set(below('', (app as unknown as { router: { stack: Layer[] } }).router.stack))].toSorted();
}

function below(prefix: string, stack: readonly Layer[]): string[] {
  return stack.flatMap(({ route, handle, rawPath }) => {
    if (route) {
      const path = template(joined(prefix, String(route.path)));
      const own = methods.filter((method) => route.methods[method]);
      return (own.length === 0 ? ['any'] : own).map((method) => `${method.toUpperCase()} ${path}`);
    }
    const path = joined(prefix, rawPath === undefined ? '/' : String(rawPath));
    if (handle.stack) return below(path, handle.stack);
    return rawPath === undefined || rawPath === '/' ? [] : [`ALL ${template(path)}`];
  });
}

const joined = (prefix: string, path: string): string => (path === '/' ? prefix : `${prefix}${path}`);
const template = (path: string): string => path.replace(/:(\w+)/g, '{$1}') || '/';

/** Routes that the OpenAPI document leaves out, as patterns, with the reason. */
export const notDescribed: Record<string, string> = {
  '^GET /$': 'page',
  '^GET /openapi(\\.json)?$': 'the document itself',
  '^ALL /(assets|messages|sdk)$': 'files of the pages and packages',
  '^GET /experience/': 'images and colors of the pages',
  '^GET /signin$': 'page',
  '^POST /v1/signin/resume$': 'read by the hosted page alone',
  '^(GET|POST) /account': 'pages',
  '^(GET|POST|ALL) /setup': 'pages of the setup link',
  '^(GET|ALL) /demo': 'page',
  '^(GET|POST) (/p/\\{slug\\})?/authorize/(resume|consent)$': 'pages of an authorization request',
  '^ALL (/p/\\{slug\\})?/device$': 'pages of the device flow',
  '^POST /oauth2/(revoke|introspect|par|device_authorization)$': 'offered by the issuers of projects only',
  '^GET /\\.well-known/(webauthn|passkey-endpoints)$': 'read by browsers (WebAuthn)',
  '^(GET|POST|ALL|ANY) /admin': 'the console and the admin API, which is GraphQL and has a schema',
  '^ALL /v1/': 'handlers around the described routes',
};
