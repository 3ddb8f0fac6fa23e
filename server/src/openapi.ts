import { delegationApi } from './delegation/openapi.ts';
import { delegationRoutes } from './delegation/routes.ts';
import { baseIssuer, projectIssuer } from './domain/projects/issuer.ts';
import { openApiDocument } from './http/openapi/document.ts';
import { describedPaths } from './http/routes/openapi.ts';
import { oidcApis } from './oidc/openapi/api.ts';
import { scimApi } from './scim/openapi.ts';
import { scimPrefix, scimRoutes } from './scim/routes.ts';
import { signinApi } from './signin/openapi.ts';
import { signinRoutes } from './signin/routes.ts';

/** The OpenAPI document of an instance, from the routes and schemas of each protocol (decisions/0175). */
export function apiDocument(baseUrl: string) {
  const base = baseIssuer(baseUrl);
  const ofProject = projectIssuer(base.url, { id: '', slug: 'example' });
  return openApiDocument(baseUrl, [
    { ...signinApi(), paths: describedPaths(signinRoutes, undefined) },
    { ...delegationApi(), paths: describedPaths(delegationRoutes, undefined) },
    ...oidcApis(base, ofProject),
    { ...scimApi(), paths: describedPaths(scimRoutes, undefined, scimPrefix) },
  ]);
}
