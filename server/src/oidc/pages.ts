import type { Request, RequestHandler, Response } from 'express';
import type { Authorizations } from '../domain/ceremonies/requests/authorizations.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { limitsOfClient } from '../domain/clients/introductions/client-policy.ts';
import { startOf } from '../domain/clients/redirect-uri.ts';
import { brandIn, type ExperienceContent } from '../domain/experience/content.ts';
import { logoPath } from '../domain/experience/logo-use.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { Cookies } from '../http/cookies.ts';
import { escapeHtml, hiddenFields } from '../http/html.ts';
import { type PageContent, type Pages, wantsPage } from '../http/pages.ts';
import { parametersOf } from '../http/parameters.ts';
import { sendEnded, startLink, wayOnOf } from '../http/plain/ended-page.ts';
import type { AuthorizeDeps } from './authorize.ts';
import type { ConsentDeps } from './consent.ts';
import { type AskedConsent, introduced, permissions } from './consent-content.ts';
import type { EndSessionDeps, LogoutSubject } from './end-session.ts';
import type { ChoicePage } from './organization.ts';

/** Message keys of the error page, by reason. */
const reasons = {
  client: 'error.client',
  'redirect-uri': 'error.redirectUri',
  parameters: 'error.parameters',
} as const;

/** The response without an issuer. @param status 421 (RFC 9110 section 15.5.20) at a host that no longer has one */
export function missingIssuer(pages: Pages, status: 404 | 421 = 404): RequestHandler {
  return (req, res) => {
    res.setHeader('Cache-Control', 'no-store');
    if (wantsPage(req)) {
      return pages.send(req, res, 'plain/error', { status, values: { message: pages.text(req, 'error.issuer') } });
    }
    res.status(status).json({ error: 'invalid_request', error_description: 'There is no issuer at this address.' });
  };
}

type ExperienceOf = (project: Project) => Promise<ExperienceContent>;

/** The pages of these endpoints. They show the request id and registered names, no other input. */
export function oidcPages(
  ended: { authorizations: Pick<Authorizations, 'wayOn'>; cookies: Pick<Cookies, 'session' | 'flow'> },
  pages: Pages,
  experienceOf: ExperienceOf,
  projectOf: (projectId: string) => Promise<Project | null>,
  asked: AskedConsent,
): {
  errorPage: AuthorizeDeps['errorPage'];
  endSession: EndSessionDeps['pages'];
  consent: ConsentDeps['page'];
  noAccess: AuthorizeDeps['noAccessPage'];
  choice: ChoicePage;
} {
  const errorPage = async (
    req: Request,
    res: Response,
    status: number,
    reason: keyof typeof reasons | 'flow-expired',
    client?: Pick<Client, 'name'> | null,
  ): Promise<void> => {
    if (reason === 'flow-expired') {
      const flow = parametersOf(req).get('flow') ?? '';
      const wayOn = await wayOnOf(ended, req, flow);
      return sendEnded({ ...ended, pages, experienceOf }, req, res, wayOn, flow);
    }
    const message = pages.text(req, reasons[reason], { app: client?.name ?? '' });
    pages.send(req, res, 'plain/error', { status, values: { message } });
  };
  const branding = async ({ client, projectId }: LogoutSubject) => {
    const project = projectId === undefined ? null : await projectOf(projectId);
    return brandingOf(client, experienceOf, project);
  };
  return {
    errorPage,
    consent: consentPage(pages, experienceOf, asked),
    noAccess: noAccessPage(pages, experienceOf),
    choice: choicePage(pages, experienceOf),
    endSession: {
      error: errorPage,
      confirm: async (req, res, about, { csrf = '', ...fields }, { returnsTo, isAddressRefused, deviceKeys }) => {
        const { values, brand } = await branding(about);
        const uiLocales = parametersOf(req).get('ui_locales');
        const refused = escapeHtml(pages.text(req, 'logout.unregistered', {}, uiLocales));
        pages.send(req, res, 'confirm-logout', {
          brand,
          uiLocales,
          values: {
            ...{ ...values, csrf, action: `${req.baseUrl}/oauth2/end_session` },
            device_keys: deviceKeys.join(' '),
          },
          html: {
            fields: hiddenFields(fields),
            notice: isAddressRefused ? `<p class="hint">${refused}</p>` : '',
          },
          leadsToApplication: returnsTo !== undefined,
        });
      },
      signedOut: async (req, res, about, deviceKeys) => {
        const { values, brand } = await branding(about);
        const uiLocales = parametersOf(req).get('ui_locales');
        const start = about.client ? startOf(about.client) : null;
        pages.send(req, res, 'signed-out', {
          brand,
          uiLocales,
          values: { ...values, device_keys: deviceKeys.join(' ') },
          html: { start: startLink(pages, req, start, { app: about.client?.name ?? '', uiLocales }) },
        });
      },
    },
  };
}

function consentPage(pages: Pages, experienceOf: ExperienceOf, asked: AskedConsent): ConsentDeps['page'] {
  return async (req, res, { request, address, organizationId, fields }) => {
    const { redirectUri } = request;
    const uiLocales = request.uiLocales ?? undefined;
    const t = (key: string, values: Record<string, string> = {}) => pages.text(req, key, values, uiLocales);
    const client = request.client.getEntity();
    const { logoId } = client;
    const { id: projectId } = client.project;
    const organization = organizationId === null ? null : await asked.organizationName(projectId, organizationId);
    const apis = await asked.apis(projectId, request.resources);
    const items = permissions(request.scope.split(' '), apis, organization, t);
    const { values, brand } = await brandingOf(client, experienceOf);
    const { consentText } = limitsOfClient(client);
    const ofProject = consentText === null ? '' : `<p class="hint" id="policy">${escapeHtml(consentText)}</p>`;
    const shown = client.introducedBy == null ? null : introduced(client, redirectUri, await asked.claimedName(client));
    pages.send(req, res, 'consent', {
      brand,
      uiLocales,
      values: {
        ...values,
        ...(shown?.isLocal && { client_name: t('consent.local') }),
        action: `${req.baseUrl}/authorize/consent`,
        other: `/signin?${new URLSearchParams({ flow: fields.flow, other: '' })}`,
        as: t('consent.as', { address }),
        returns: t('consent.returns', { host: new URL(redirectUri).host }),
      },
      html: {
        fields: hiddenFields(fields),
        scopes: items,
        named:
          shown === null
            ? ''
            : `<p class="hint" id="named">${escapeHtml(t('consent.named', { app: shown.claimed }))}</p>${ofProject}`,
        logo: logoId ? `<img class="app-logo" src="${escapeHtml(logoPath(logoId))}" alt="">` : '',
      },
      leadsToApplication: true,
    });
  };
}

/** One button for each organization: also without script. */
function choicePage(pages: Pages, experienceOf: ExperienceOf): ChoicePage {
  return async (req, res, { request, choices, user, action, fields }) => {
    const uiLocales = request.uiLocales ?? undefined;
    const { values, brand } = await brandingOf(request.client.getEntity(), experienceOf);
    const items = choices.map(
      ({ id, name }) =>
        `<li><button type="submit" class="second" name="organization" value="${escapeHtml(id)}">${escapeHtml(name)}</button></li>`,
    );
    pages.send(req, res, 'organization', {
      ...{ brand, uiLocales },
      values: {
        ...{ ...values, action },
        other: `/signin?${new URLSearchParams({ flow: fields.flow, other: '' })}`,
        as: pages.text(req, 'consent.as', { address: user.email ?? user.userName }, uiLocales),
      },
      html: { fields: hiddenFields(fields), organizations: items.join('') },
      leadsToApplication: true,
    });
  };
}

/** Names the account and the application, and whom to ask: the project's support page, else its administrator. */
function noAccessPage(pages: Pages, experienceOf: ExperienceOf): AuthorizeDeps['noAccessPage'] {
  return async (req, res, { request, user, flow, back }) => {
    const client = request.client.getEntity();
    const uiLocales = request.uiLocales ?? undefined;
    const { values, brand } = await brandingOf(client, experienceOf);
    const look = brand?.(pages.language(req, uiLocales));
    const t = (key: string, given: Record<string, string> = {}) =>
      pages.text(req, key, { app: client.name, project: look?.name ?? '', ...given }, uiLocales);
    const link = (id: string, key: string, href: string, kind: 'main' | 'second') =>
      `<a class="${kind}" id="${id}" href="${escapeHtml(href)}">${escapeHtml(t(key))}</a>`;
    const support = look?.texts.supportUrl;
    pages.send(req, res, 'plain/no-access', {
      ...{ brand, uiLocales, status: 403 },
      values: {
        ...values,
        as: t('consent.as', { address: user.email ?? user.userName }),
        ask: t(support === undefined ? 'noAccess.ask' : 'noAccess.askSupport'),
      },
      html: {
        support: support === undefined ? '' : link('support', 'noAccess.support', support, 'main'),
        other: link('other', 'consent.other', `/signin?${new URLSearchParams({ flow, other: '' })}`, 'second'),
        back: back === undefined ? '' : link('back', 'noAccess.back', back, 'second'),
      },
    });
  };
}

/** The client's name and the branding of its project, or of `of`; the default without either. */
async function brandingOf(
  client: Client | undefined,
  experienceOf: ExperienceOf,
  of: Project | null = null,
): Promise<Pick<PageContent, 'values' | 'brand'>> {
  const project = client?.project.unwrap() ?? of;
  if (!project) return { values: { client_name: '', project_name: 'Latchkey' } };
  const experience = await experienceOf(project);
  return {
    values: { client_name: client?.name ?? '' },
    brand: (language) => brandIn(experience, project.name, language),
  };
}
