import type { Client } from '../domain/clients/client.entity.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { Parameters } from '../http/parameters.ts';
import { OAuthError } from './oauth-error.ts';
import { parameterFault } from './parameter-fault.ts';

/** Finds connections of a project, also of its organizations, by which people can sign in. */
export interface ConnectionIds {
  isConnection(projectId: string, id: string): Promise<boolean>;
}

const unknown = new OAuthError('invalid_request', 'connection is not the id of an enabled connection.');

/**
 * The connection that a request names: a sign-in begins there, instead of on the page. Null: none, as always at the base issuer. Throws
 * `OAuthError`, the same for one that is unknown, disabled or of another project.
 */
export async function namedConnection(
  { isConnection }: ConnectionIds,
  parameters: Parameters,
  client: Client,
  issuer: Issuer,
): Promise<string | null> {
  if (!issuer.capabilities.organizations || parameterFault(parameters, issuer)) return null;
  const id = parameters.get('connection');
  if (id === undefined) return null;
  if (!(await isConnection(client.project.id, id))) throw unknown;
  return id;
}
