import type { Request, Response } from 'express';
import type { Authorizations, WayOn } from '../../domain/ceremonies/requests/authorizations.ts';
import { brandIn, type ExperienceContent } from '../../domain/experience/content.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import type { Cookies } from '../cookies.ts';
import { escapeHtml } from '../html.ts';
import type { Pages } from '../pages.ts';

interface EndedPageDeps {
  authorizations: Pick<Authorizations, 'wayOn'>;
  cookies: Pick<Cookies, 'session'>;
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
  return authorizations.wayOn(flow, (projectId) => cookies.session(req, projectId));
}

/** The page of a flow that has ended, was finished, or belongs to another browser; with a link to its application. */
export async function sendEnded(deps: EndedPageDeps, req: Request, res: Response, wayOn: WayOn | null): Promise<void> {
  const { pages } = deps;
  const project = wayOn?.client.project.getEntity();
  const experience = project && (await deps.experienceOf(project));
  const values = { client_name: wayOn?.client.name ?? '' };
  pages.send(req, res, 'plain/ended', {
    status: 400,
    values,
    html: { start: startLink(pages, req, wayOn?.start ?? null, values.client_name) },
    brand: experience && project && ((language) => brandIn(experience, project.name, language)),
  });
}

/** A link to the start of an application; nothing if it is unknown. @param start from registration or configuration alone */
export function startLink(pages: Pages, req: Request, start: string | null, app: string, uiLocales?: string): string {
  if (start === null) return '';
  const key = start.endsWith('/account') ? 'confirm.link' : 'done.link';
  const text = pages.text(req, key, { app }, uiLocales);
  return `<a class="main" id="start" href="${escapeHtml(start)}">${escapeHtml(text)}</a>`;
}
