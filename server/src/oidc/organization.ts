import type { Request, RequestHandler, Response } from 'express';
import type { MemberChoice } from '../domain/access/member-choices.ts';
import type { AuthorizationRequest } from '../domain/ceremonies/requests/authorization-request.entity.ts';
import type { Authorizations } from '../domain/ceremonies/requests/authorizations.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { User } from '../domain/users/user.entity.ts';
import type { Cookies } from '../http/cookies.ts';
import { issuerOf } from '../http/issuer.ts';
import { type Parameters, parametersOf } from '../http/parameters.ts';
import { browserOf, type ConsentDeps, resumePath } from './consent.ts';
import { OAuthError } from './oauth-error.ts';
import { parameterFault } from './parameter-fault.ts';

/** Finds an active organization of a project, by slug or id. */
export interface OrganizationNames {
  findOrganization(projectId: string, name: string): Promise<string | null>;
}

const unknown = new OAuthError('invalid_request', 'organization is not the slug or id of an active organization.');

/** Longer than any slug. */
const longest = 64;

/**
 * The organization that a request names. Null: none; undefined: none can be, at this issuer or in this project. Throws `OAuthError`,
 * the same for one that is unknown, suspended or of another project.
 */
export async function namedOrganization(
  { findOrganization }: OrganizationNames,
  parameters: Parameters,
  client: Client,
  issuer: Issuer,
): Promise<string | null | undefined> {
  if (!issuer.capabilities.organizations || parameterFault(parameters, issuer)) return undefined;
  const { id, organizationsEnabled } = client.project.getEntity();
  const name = parameters.get('organization');
  if (name === undefined) return organizationsEnabled ? null : undefined;
  const isPossible = organizationsEnabled && name.length <= longest;
  const found = isPossible ? await findOrganization(id, name) : null;
  if (found === null) throw unknown;
  return found;
}

/** The page on which a user chooses an organization. */
interface ShownChoice {
  request: AuthorizationRequest;
  choices: readonly MemberChoice[];
  user: Pick<User, 'email' | 'userName'>;
  /** The address that the form is sent to. */
  action: string;
  /** Hidden fields of the form. */
  fields: { flow: string; csrf: string };
}

export interface ChoiceDeps {
  authorizations: Pick<Authorizations, 'choose'>;
  cookies: Pick<Cookies, 'session' | 'flow'>;
  csrf: ConsentDeps['csrf'];
  errorPage: ConsentDeps['errorPage'];
}

export type ChoicePage = (req: Request, res: Response, shown: ShownChoice) => Promise<void>;

/**
 * `POST /authorize/organization`: the user's choice. It is only stored: `GET /authorize/resume` follows, and checks membership and
 * session at that time.
 */
export function choiceEndpoint(deps: ChoiceDeps): RequestHandler {
  return async (req, res) => {
    const form = parametersOf(req);
    const [flow, organizationId] = [form.get('flow'), form.get('organization')];
    if (form.wrongContentType || form.faults.length > 0 || flow === undefined || !isUuid(organizationId)) {
      return deps.errorPage(req, res, 400, 'flow-expired');
    }
    const isKnown = await deps.authorizations.choose(issuerOf(req), browserOf(deps.cookies, req, flow), {
      organizationId,
      isBoundTo: (boundTo) => deps.csrf.holds(boundTo, form.get('csrf')),
    });
    if (!isKnown) return deps.errorPage(req, res, 400, 'flow-expired');
    res.redirect(303, resumePath(req, flow));
  };
}
