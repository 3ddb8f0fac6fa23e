import type { Issuer } from '../../domain/projects/issuer.ts';
import { type ApiPart, type Operation, type Paths, pathParameters } from '../../http/openapi/document.ts';
import { describedPaths } from '../../http/routes/openapi.ts';
import { metadataRoutes, oidcRoutes } from '../routes.ts';
import type { Context } from './operations.ts';
import { discoverySchema, schemas } from './schemas.ts';

/** The endpoints of the base issuer and of the issuers of projects, according to their capabilities. */
export function oidcApis(base: Issuer, ofProject: Issuer): ApiPart[] {
  return [
    {
      tag: {
        name: 'OpenID Connect',
        description: 'The base issuer: authorization code flow with PKCE, UserInfo, discovery and logout.',
      },
      paths: describedPaths(oidcRoutes, contextOf(base, '')),
      schemas: { ...schemas, Discovery: discoverySchema([base, ofProject]) },
    },
    {
      tag: {
        name: 'OpenID Connect of a project',
        description:
          'The issuer of a project, at /p/{slug} and at its custom domain. It offers more than the base issuer; ' +
          'codes and tokens are valid only at the issuer that gave them.',
      },
      paths: ofProjects(contextOf(ofProject, 'project')),
    },
  ];
}

function ofProjects(context: Context): Paths {
  return { ...describedPaths(oidcRoutes, context, '/p/:slug'), ...describedPaths(metadataRoutes, context) };
}

/** @param prefix of the ids of its operations; empty: the base issuer */
function contextOf(issuer: Issuer, prefix: string): Context {
  const parameters = prefix === '' ? [] : pathParameters({ slug: "The project's slug." });
  const id = (name: string) => (prefix === '' ? name : `${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}`);
  const operation = (name: string, { parameters: own = [], ...more }: Omit<Operation, 'operationId'>): Operation => ({
    operationId: id(name),
    ...more,
    ...(parameters.length + own.length > 0 && { parameters: [...parameters, ...own] }),
  });
  return { issuer, operation };
}
