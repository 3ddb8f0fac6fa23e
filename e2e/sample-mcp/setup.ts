import type { AdminCall } from '../sample/relying-party.ts';
import { scopes } from './app.ts';

/**
 * Lets clients introduce themselves to a project, and registers the MCP server as an API that is open to them. Keeps what an
 * earlier run registered.
 *
 * @returns the project's issuer
 */
export async function setUpMcp(admin: AdminCall, projectId: string, resource: string): Promise<string> {
  const accepting = { id: projectId, clientMetadataDocuments: 'ANYONE', clientRegistration: 'OPEN' };
  const { updateProject } = await admin<{ updateProject: { issuer: string } }>(
    'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { issuer } }',
    { input: accepting },
  );
  type Listed = { apis: { id: string; identifier: string }[] };
  const listing = 'query ($projectId: ID!) { apis(projectId: $projectId) { id identifier } }';
  const known = (await admin<Listed>(listing, { projectId })).apis.find(({ identifier }) => identifier === resource);
  if (known) {
    await admin('mutation ($input: UpdateApiInput!) { updateApi(input: $input) { id } }', {
      input: { id: known.id, scopes, thirdPartyAccess: true },
    });
  } else {
    const api = { projectId, identifier: resource, name: 'Sample notes', scopes, accessTokenTtlSeconds: 300 };
    await admin('mutation ($input: CreateApiInput!) { createApi(input: $input) { id } }', {
      input: { ...api, thirdPartyAccess: true },
    });
  }
  return updateProject.issuer;
}
