import type { Request, Response } from 'express';
import type { Client } from '../../domain/clients/client.entity.ts';
import { startOf } from '../../domain/clients/redirect-uri.ts';
import { brandIn, type ExperienceContent } from '../../domain/experience/content.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { escapeHtml } from '../html.ts';
import type { PageContent, Pages } from '../pages.ts';
import { startLink } from './ended-page.ts';

/** The pages of a logout in which SAML applications take part. */
export function logoutPages(deps: {
  pages: Pages;
  projectOf(projectId: string): Promise<Project | null>;
  experienceOf(project: Project): Promise<ExperienceContent>;
}) {
  const { pages } = deps;
  const brandOf = async (projectId: string): Promise<PageContent['brand']> => {
    const project = await deps.projectOf(projectId);
    const experience = project && (await deps.experienceOf(project));
    return experience && project ? (language) => brandIn(experience, project.name, language) : undefined;
  };
  return {
    async signingOut(
      req: Request,
      res: Response,
      { frames, next, projectId }: { frames: { name: string; url: string }[]; next: string; projectId: string },
    ): Promise<void> {
      pages.send(req, res, 'plain/signing-out', {
        brand: await brandOf(projectId),
        values: { next },
        html: { names: listOf(frames), frames: frames.map(frameOf).join('') },
        framesApplications: true,
        leadsToApplication: true,
      });
    },
    async signedOut(
      req: Request,
      res: Response,
      shown: {
        client: Client | undefined;
        projectId: string;
        deviceKeys: readonly string[];
        unconfirmed: readonly { name: string }[];
        to: string | undefined;
      },
    ): Promise<void> {
      const { client, deviceKeys, projectId, to, unconfirmed } = shown;
      const app = client?.name ?? '';
      const lead = `<p id="unconfirmed">${escapeHtml(pages.text(req, 'signedOut.unconfirmed'))}</p>`;
      const start = to ?? (client ? startOf(client) : null);
      pages.send(req, res, 'signed-out', {
        brand: await brandOf(projectId),
        values: { client_name: app, device_keys: deviceKeys.join(' ') },
        html: {
          unconfirmed: unconfirmed.length === 0 ? '' : `${lead}<ul>${listOf(unconfirmed)}</ul>`,
          start: startLink(pages, req, start, { app }),
        },
      });
    },
    answered(req: Request, res: Response): void {
      pages.send(req, res, 'plain/answered', { isFramed: true });
    },
  };
}

const listOf = (applications: readonly { name: string }[]) =>
  applications.map(({ name }) => `<li>${escapeHtml(name)}</li>`).join('');

/** Without `allow-top-navigation`: a page of the application cannot leave its frame. */
const frameOf = ({ name, url }: { name: string; url: string }) =>
  `<iframe hidden sandbox="allow-forms allow-same-origin allow-scripts" title="${escapeHtml(name)}" src="${escapeHtml(url)}"></iframe>`;
