import type { Request, Response } from 'express';
import type { WayOn } from '../../domain/ceremonies/requests/authorization.ts';
import type { Authorizations } from '../../domain/ceremonies/requests/authorizations.ts';
import { brandIn, type ExperienceContent } from '../../domain/experience/content.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import type { Cookies } from '../cookies.ts';
import { escapeHtml } from '../html.ts';
import type { Pages } from '../pages.ts';
import { isElsewhere, siteAt } from '../site.ts';

interface EndedPageDeps {
  authorizations: Pick<Authorizations, 'wayOn'>;
  cookies: Pick<Cookies, 'session' | 'flow'>;
  pages: Pages;
  experienceOf(project: Project): Promise<ExperienceContent>;
}

/** Looks up the next page of a user whose flow has ended. */
export async function wayOnOf(
  { authorizations, cookies }: Pick<EndedPageDeps, 'authorizations' | 'cookies'>,
  req: Request,
  flow: unknown,
): Promise<WayOn | null> {
  if (typeof flow !== 'string') return null;
  return authorizations.wayOn(flow, {
    browserSecret: cookies.flow(req, flow),
    sessionSecretOf: (projectId) => cookies.session(req, projectId),
    site: siteAt(req),
  });
}

/** The page of a flow that has ended, was finished, or belongs to another browser; with a link to its application. */
export async function sendEnded(
  deps: EndedPageDeps,
  req: Request,
  res: Response,
  wayOn: WayOn | null,
  flow: string,
): Promise<void> {
  const { pages } = deps;
  const project = wayOn?.client.project.getEntity();
  const experience = project && (await deps.experienceOf(project));
  const values = { client_name: wayOn?.client.name ?? '' };
  pages.send(req, res, 'plain/ended', {
    status: 400,
    values,
    texts: wayOn?.isRenewable ? { 'error.flowExpired': 'error.expired' } : {},
    html: {
      host: isElsewhere(req) ? hostLink(pages, req) : '',
      start: startLink(pages, req, wayOn?.start ?? null, {
        app: values.client_name,
        again: wayOn?.isRenewable ? flow : null,
        ...(isElsewhere(req) ? {} : { otherwise: 'error.next' }),
      }),
    },
    brand: experience && project && ((language) => brandIn(experience, project.name, language)),
  });
}

/** Names the configured address of this site. */
function hostLink(pages: Pages, req: Request): string {
  const { origin: address } = siteAt(req);
  const text = escapeHtml(pages.text(req, 'problem.host', { address }));
  const link = `<a class="main" id="host" href="${escapeHtml(address)}/">${escapeHtml(address)}</a>`;
  return `<p class="notice">${text}</p>${link}`;
}

/** The address of `Sign in again`: begins the stored request of the flow. */
export const againPath = '/signin/again';

interface StartLink {
  /** The flow, if its request may begin again; absent or null: no such link. */
  again?: string | null;
  /** Display name of the application. */
  app: string;
  /** Key of the text to show without a link. */
  otherwise?: string;
  uiLocales?: string | undefined;
}

/**
 * The links of a page without a next step: to begin the request again, and to the start of the application.
 *
 * @param start from registration or configuration alone; null: unknown
 */
export function startLink(
  pages: Pages,
  req: Request,
  start: string | null,
  { again = null, app, otherwise, uiLocales }: StartLink,
): string {
  const text = (key: string) => escapeHtml(pages.text(req, key, { app }, uiLocales));
  const link = (id: string, key: string, href: string, kind: 'main' | 'second' = 'main') =>
    `<a class="${kind}" id="${id}" href="${escapeHtml(href)}">${text(key)}</a>`;
  const renewal =
    again === null ? '' : link('again', 'error.again', `${againPath}?${new URLSearchParams({ flow: again })}`);
  if (start !== null) {
    const key = start.endsWith('/account') ? 'confirm.link' : 'done.link';
    return renewal + link('start', key, start, renewal === '' ? 'main' : 'second');
  }
  if (renewal !== '' || otherwise === undefined) return renewal;
  return `<p class="hint">${text(otherwise)}</p>`;
}
