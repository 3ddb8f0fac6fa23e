import { delegationApi } from './delegation/openapi.ts';
import { baseIssuer, projectIssuer } from './domain/projects/issuer.ts';
import { openApiDocument } from './http/openapi/document.ts';
import { oidcApis } from './oidc/openapi/api.ts';
import { scimApi } from './scim/openapi.ts';
import { signinApi } from './signin/openapi.ts';

/** The OpenAPI document of an instance, from the description of each protocol (decisions/0175). */
export function apiDocument(baseUrl: string) {
  const base = baseIssuer(baseUrl);
  const ofProject = projectIssuer(base.url, { id: '', slug: 'example' });
  return openApiDocument(baseUrl, [signinApi, delegationApi, ...oidcApis(base, ofProject), scimApi()]);
}
