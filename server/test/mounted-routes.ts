import type { Express } from 'express';
import { accountRoutes } from '../src/account/routes.ts';
import { adminRoutes } from '../src/admin/routes.ts';
import { connectRoutes } from '../src/connect/routes.ts';
import { delegationRoutes } from '../src/delegation/routes.ts';
import { docsRoutes } from '../src/http/docs/page.ts';
import { openApiRoutes } from '../src/http/openapi/routes.ts';
import { startRoutes } from '../src/http/plain/start-page.ts';
import { labelOf, type Route } from '../src/http/routes/route.ts';
import { statusRoutes } from '../src/http/status/page.ts';
import { domainMetadataRoutes, metadataRoutes, oidcRoutes } from '../src/oidc/routes.ts';
import { portalRoutes } from '../src/portal/routes.ts';
import { samlRoutes } from '../src/saml/routes.ts';
import { scimPrefix, scimRoutes } from '../src/scim/routes.ts';
import { signinRoutes } from '../src/signin/routes.ts';

/** A route of a table, with the prefix that the table is mounted at. */
export interface Row {
  prefix: string;
  route: Route<never, never>;
  label: string;
}

const below = (prefix: string, routes: readonly Route<never, never>[], label = prefix): Row[] =>
  routes.map((route) => ({ prefix, route, label: labelOf(route, label) }));

/** Every route of the application. */
export const rows: readonly Row[] = [
  ...below('', oidcRoutes),
  ...below('', domainMetadataRoutes),
  ...below('', samlRoutes),
  ...below('', signinRoutes),
  ...below('', connectRoutes),
  ...below('', accountRoutes),
  ...below('', portalRoutes),
  ...below('', startRoutes),
  ...below('/p/:slug', oidcRoutes),
  ...below('', metadataRoutes),
  ...below('/p/:slug', samlRoutes),
  ...below(scimPrefix, scimRoutes, '/v1/scim/:project'),
  ...below('', delegationRoutes),
  ...below('', adminRoutes),
  ...below('', openApiRoutes),
  ...below('', docsRoutes),
  ...below('', statusRoutes),
];

/** A row as {@link mountedRoutes} describes it. */
export function described({ prefix, route: { path, methods, any } }: Row): string {
  return `${[...Object.keys(methods), ...(any ? ['ANY'] : [])].join(' ')} ${joined(prefix, path)}`;
}

/** A layer of Express's router (the package `router`), limited to the members that are read here. */
interface Layer {
  name: string;
  rawPath?: string | RegExp;
  route?: { path: string; stack: { method?: string; name: string }[] };
  handle: { stack?: Layer[] };
}

/** The routes and handlers that Express mounted: routes as `METHODS /path`, and other handlers as `use /path`. */
export function mountedRoutes(app: Express): string[] {
  return walked('', (app as unknown as { router: { stack: Layer[] } }).router.stack);
}

const order = ['get', 'post', 'put', 'patch', 'delete'];

function walked(prefix: string, stack: readonly Layer[]): string[] {
  return stack.flatMap(({ route, handle, rawPath, name }) => {
    if (route) {
      const named = order.filter((method) => route.stack.some((layer) => layer.method === method));
      // Without a handler for all methods, the last layers refuse with 405.
      const isOpen = !route.stack.some((layer) => layer.method === undefined && layer.name === 'refused');
      const own = [...named.map((method) => method.toUpperCase()), ...(isOpen ? ['ANY'] : [])];
      return [`${own.join(' ')} ${joined(prefix, String(route.path))}`];
    }
    const path = joined(prefix, rawPath === undefined ? '/' : String(rawPath));
    if (handle.stack) return walked(path, handle.stack);
    return [`use ${path} ${name}`];
  });
}

function joined(prefix: string, path: string): string {
  return path === '/' && prefix !== '' ? prefix : `${prefix === '/' ? '' : prefix}${path}`;
}
