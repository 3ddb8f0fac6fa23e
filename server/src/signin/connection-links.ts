import type { Request } from 'express';
import { mayBeFederated } from '../domain/ceremonies/federated.ts';
import type { AuthorizationRequest } from '../domain/ceremonies/requests/authorization-request.entity.ts';
import type { Connections } from '../domain/connections/connections.ts';
import type { Realm } from '../domain/connections/realms.ts';
import type { Database } from '../domain/kernel/database.ts';
import { organizationPolicyOf } from '../domain/organizations/organization-policy.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { connectPath } from '../http/flow-addresses.ts';
import { escapeHtml } from '../http/html.ts';
import type { Pages } from '../http/pages.ts';

export interface ConnectionLinksDeps {
  connections: Pick<Connections, 'offered' | 'ofOrganization' | 'realmOf' | 'waiting'>;
  db: Database;
  pages: Pages;
}

/** The texts of a sign-in that proves the account which an answer of a provider is to be linked to. */
export const connectTexts = {
  'page.title': 'connect.title',
  'address.title': 'connect.title',
  'address.text': 'connect.text',
};

/** Message keys of sign-ins by a provider that ended without one, by outcome. */
const problems: Record<string, string> = {
  failed: 'connect.failed',
  off: 'connect.failed',
  denied: 'connect.denied',
  'no-account': 'connect.noAccount',
  inactive: 'problem.inactive',
  approval: 'problem.approval',
};

/** The answer that waits for the proof of an account in this flow. */
export async function waitingOf(deps: ConnectionLinksDeps, { connectingId, project }: AuthorizationRequest) {
  return connectingId == null ? null : deps.connections.waiting(deps.db.reader(), keyIn(project.id, connectingId));
}

/** HTML: how the last sign-in by a provider ended, and a link for each connection. Links, since the page's forms never submit. */
export async function connectionLinks(
  { connections, db, pages }: ConnectionLinksDeps,
  req: Request,
  request: AuthorizationRequest,
  flow: string,
): Promise<string> {
  if (!mayBeFederated(request)) return '';
  const uiLocales = request.uiLocales ?? undefined;
  const key = Object.hasOwn(problems, String(req.query['connect']))
    ? problems[String(req.query['connect'])]
    : undefined;
  const problem =
    key === undefined ? '' : `<p class="notice" role="alert">${escapeHtml(pages.text(req, key, {}, uiLocales))}</p>`;
  const { organizationId, project } = request;
  const realm = await realmOfHint(connections, request);
  const own =
    organizationId == null ? [realm ?? []].flat() : await connections.ofOrganization(keyIn(project.id, organizationId));
  const offered = [...own, ...(await connections.offered(db.reader(), project.id))];
  const links = offered.map(({ id, name }) => {
    const text = escapeHtml(pages.text(req, 'connect.with', { connection: name }, uiLocales));
    return `<a class="second" href="${escapeHtml(connectPath(id, flow))}">${text}</a>`;
  });
  return problem + (links.length === 0 ? '' : `<div class="connections">${links.join('')}</div>`);
}

/**
 * Where a flow goes instead of its page, once: to the connection that is required by the organization of the request, or by the one of the
 * domain of `login_hint`. Null: to the page, also after an attempt.
 */
export async function requiredConnection(
  { connections, db }: ConnectionLinksDeps,
  req: Request,
  request: AuthorizationRequest,
  flow: string,
): Promise<string | null> {
  const { connectingId, organizationId, project } = request;
  if (connectingId != null || 'connect' in req.query || !mayBeFederated(request)) return null;
  if (organizationId == null) {
    const realm = await realmOfHint(connections, request);
    return realm?.isRequired ? connectPath(realm.id, flow) : null;
  }
  const policy = await organizationPolicyOf(db.alone, project.id, organizationId);
  if (policy?.connectionOf == null) return null;
  const [first] = await connections.ofOrganization(keyIn(project.id, organizationId));
  return first ? connectPath(first.id, flow) : null;
}

/** The connection for the domain of `login_hint`. */
async function realmOfHint(
  connections: ConnectionLinksDeps['connections'],
  { loginHint, project }: AuthorizationRequest,
): Promise<Realm | null> {
  const { id, organizationsEnabled } = project.getEntity();
  return organizationsEnabled && loginHint != null ? connections.realmOf(id, loginHint) : null;
}
