import type { Actor } from '../domain/kernel/actor.ts';
import type { Problem } from '../domain/kernel/problem.ts';
import type { OpenLink } from '../domain/portal/open-links.ts';
import type { Portal } from '../domain/portal/portal.ts';
import type { PortalConnections } from '../domain/portal/portal-connections.ts';
import type { PortalDirectory } from '../domain/portal/portal-directory.ts';
import type { Parameters } from '../http/parameters.ts';
import type { Outcome } from './view.ts';

export interface ChangeDeps {
  portal: Portal;
  portalConnections: PortalConnections;
  portalDirectory: PortalDirectory;
}

const results = ['added', 'removed', 'saved', 'enabled'] as const;
/** What the page says after a change. */
export type Done = (typeof results)[number];

export const doneOf = (text: string | undefined): Done | undefined => results.find((one) => one === text);

/** @returns a page to show at once, or what the page says after the redirect; empty: nothing */
type Change = (...given: Given) => Promise<Done | '' | Outcome>;

type Given = [deps: ChangeDeps, link: OpenLink, form: Parameters, actor: Actor];

function silent(work: (...given: Given) => Promise<unknown>, done: Done | '' = ''): Change {
  return async (...given) => {
    await work(...given);
    return done;
  };
}

/** By the value of `change` in the form. */
export const changes: Record<string, Change> = {
  'add-domain': silent(
    ({ portal }, link, form, actor) => portal.addDomain(link, form.get('domain') ?? '', actor),
    'added',
  ),
  'check-domain': silent(({ portal }, link, form, actor) => portal.checkDomain(link, form.get('id') ?? '', actor)),
  'remove-domain': silent(
    ({ portal }, link, form, actor) => portal.removeDomain(link, form.get('id') ?? '', actor),
    'removed',
  ),
  'create-connection': silent(({ portalConnections }, link, form, actor) => {
    const chosen = { kind: form.get('kind') ?? '', provider: form.get('provider') ?? '' };
    return portalConnections.create(link, chosen, actor);
  }),
  'save-connection': silent(
    ({ portalConnections }, link, form, actor) =>
      portalConnections.save(link, (kind) => (kind === 'oidc' ? oidcIn(form) : samlIn(form)), actor),
    'saved',
  ),
  'test-connection': async ({ portalConnections }, link) => ({ testUrl: await portalConnections.test(link) }),
  'enable-connection': silent(
    ({ portalConnections }, link, _form, actor) => portalConnections.enable(link, actor),
    'enabled',
  ),
  'remove-connection': silent(({ portalConnections }, link, _form, actor) => portalConnections.remove(link, actor)),
  // Not by a redirect: the token is neither stored nor in an address.
  'issue-token': async ({ portalDirectory }, link, form, actor) => ({
    token: await portalDirectory.issue(link, form.get('seen') ?? '', actor),
  }),
  complete: silent(({ portal }, link, _form, actor) => portal.complete(link, actor)),
};

function oidcIn(form: Parameters) {
  const [issuer, clientId, hostedDomain] = [form.get('issuer'), form.get('clientId') ?? '', form.get('hostedDomain')];
  return { oidc: { issuer, clientId, clientSecret: form.get('clientSecret'), hostedDomain } };
}

function samlIn(form: Parameters) {
  // An upload replaces the address, which the form shows.
  const metadataXml = form.get('metadataXml');
  return { saml: metadataXml === undefined ? { metadataUrl: form.get('metadataUrl') } : { metadataXml } };
}

/** Texts of problems by the field that they name. */
const fields: Record<string, Extract<Outcome, { problem: string }>['problem']> = {
  domain: 'problemDomain',
  organizationId: 'problemLimit',
  'oidc.issuer': 'problemIssuer',
  'oidc.clientId': 'problemClient',
  'oidc.clientSecret': 'problemSecret',
  'oidc.hostedDomain': 'problemHosted',
  'saml.metadataUrl': 'problemMetadata',
  'saml.metadataXml': 'problemMetadata',
};

/** Values that may be shown again. */
const shown = ['domain', 'issuer', 'clientId', 'hostedDomain', 'metadataUrl'];

export function refusalOf(problem: Problem, form: Parameters): [status: number, Outcome] {
  const given = shown.map((name) => [name, form.get(name)]).filter(([, value]) => value !== undefined);
  const typed = Object.fromEntries(given) as Record<string, string>;
  if (problem.code === 'too-many') {
    return [429, { problem: 'problemWait', minutes: minutesOf(problem.retryAfterSeconds) }];
  }
  if (problem.code === 'taken') return [409, { problem: 'problemTaken', typed }];
  const isToken = form.get('change') === 'issue-token';
  if (problem.code === 'conflict') return [409, { problem: isToken ? 'problemToken' : 'problemChanged' }];
  const named = problem.code === 'invalid' ? fields[problem.field] : undefined;
  if (named === undefined) return [problem.code === 'forbidden' ? 403 : 404, { problem: 'problemForm' }];
  if (form.get('change') === 'test-connection') return [400, { problem: 'problemIncomplete' }];
  return [400, { problem: isToken ? 'problemTokens' : named, typed }];
}

export const minutesOf = (seconds: number): string => String(Math.ceil(seconds / 60));
