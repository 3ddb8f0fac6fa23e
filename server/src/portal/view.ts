import type { OrganizationDomain } from '../domain/organizations/organization-domain.entity.ts';
import type { OpenLink } from '../domain/portal/open-links.ts';
import type { PortalDirectoryState } from '../domain/portal/portal-directory.ts';
import { challengeName } from '../domain/projects/dns-proof.ts';
import { unicodeOf } from '../domain/projects/mail-domains.ts';
import { type Html, hidden, html, nothing } from '../http/markup.ts';
import { type ConnectionState, connectionSection } from './connection-view.ts';
import { directorySection } from './directory-view.ts';
import { post, type Reader, readonlyField } from './parts.ts';
import type { PortalKey } from './texts/en.ts';

/** Result of the last action. */
export type Outcome =
  | { done: 'added' | 'removed' | 'saved' | 'enabled' }
  | { testUrl: string }
  /** A directory token, shown by this answer only. */
  | { token: string }
  | {
      problem: Extract<PortalKey, `problem${string}`>;
      minutes?: string;
      /** Values of the rejected form that can be shown again. */
      typed?: Record<string, string>;
    };

/** The page of a link that works. */
export function openView({ t }: Reader, { app, organization }: OpenLink): Html {
  const names = { app, organization };
  return html`<h1>${t('title', names)}</h1><p class="lead">${t('openText', names)}</p>
    ${post(t('open'), { change: 'open' }, 'main')}`;
}

/** The page of a link that was opened. @param email masked */
export function usedView({ t }: Reader, email: string): Html {
  return html`<h1>${t('usedTitle')}</h1><p class="lead">${t('usedText', { email })}</p>
    ${post(t('send'), { change: 'send' }, 'main')}`;
}

export function sentView({ t }: Reader, email: string): Html {
  return html`<h1>${t('sentTitle')}</h1><p class="lead" role="status">${t('sentText', { email })}</p>`;
}

export function waitView({ t }: Reader, minutes: string): Html {
  return html`<h1>${t('usedTitle')}</h1><p class="problem" role="alert">${t('problemWait', { minutes })}</p>`;
}

export function closedView({ t }: Reader): Html {
  return html`<h1>${t('closedTitle')}</h1><p class="lead">${t('closedText')}</p>`;
}

/** The page of a session. */
export function portalView(
  reader: Reader,
  link: OpenLink,
  {
    csrf,
    connection,
    directory,
    domains,
    isDone,
    outcome,
  }: {
    csrf: string;
    connection: ConnectionState | null;
    /** Null: the link does not allow it. */
    directory: PortalDirectoryState | null;
    domains: readonly OrganizationDomain[];
    isDone: boolean;
    outcome: Outcome | undefined;
  },
): Html {
  const { at, t } = reader;
  const { app, organization } = link;
  const typed = outcome && 'problem' in outcome ? (outcome.typed ?? {}) : {};
  const testUrl = outcome && 'testUrl' in outcome ? outcome.testUrl : undefined;
  const issued = outcome && 'token' in outcome ? outcome.token : undefined;
  return html`<h1>${t('title', { organization })}</h1>
    <p class="lead">${t('lead', { app, organization })}</p>
    ${outcomeLine(reader, outcome)}
    ${link.can.includes('domains') ? domainsSection(reader, csrf, domains, typed['domain'] ?? '') : nothing}
    ${link.can.includes('connection') ? connectionSection(reader, link, { csrf, state: connection, typed, testUrl }) : nothing}
    ${directory ? directorySection(reader, link, { csrf, state: directory, issued }) : nothing}
    <section aria-labelledby="end"><h2 id="end">${t('finish')}</h2>${ending(reader, link, csrf, isDone)}
      <p class="hint">${t('until', { until: at(link.expiresAt) })}</p>
      ${link.returnUrl === null ? nothing : html`<p><a href="${link.returnUrl}">${t('back', { app })}</a></p>`}</section>`;
}

function outcomeLine({ t }: Reader, outcome: Outcome | undefined): Html {
  if (!outcome || 'testUrl' in outcome || 'token' in outcome) return nothing;
  if ('done' in outcome) return html`<p class="done" role="status">${t(outcome.done)}</p>`;
  return html`<p class="problem" role="alert" id="problem">${t(outcome.problem, { minutes: outcome.minutes ?? '' })}</p>`;
}

function ending({ t }: Reader, { isCompleted }: OpenLink, csrf: string, isDone: boolean): Html {
  if (isCompleted) return html`<p class="done" role="status">${t('completed')}</p>`;
  if (!isDone) return html`<p class="hint">${t('todo')}</p>`;
  return html`<p class="hint">${t('finishText')}</p>${post(t('finish'), { change: 'complete', csrf }, 'main')}`;
}

function domainsSection(reader: Reader, csrf: string, domains: readonly OrganizationDomain[], typed: string): Html {
  const { t } = reader;
  const faulty = typed === '' ? nothing : html` aria-invalid="true" aria-describedby="problem"`;
  return html`<section aria-labelledby="domains"><h2 id="domains">${t('domains')}</h2>
    <p class="hint">${t('domainsText')}</p>
    <ul class="rows">${domains.map((domain) => html`<li class="row">${domainRow(reader, csrf, domain)}</li>`)}</ul>
    <form method="post" action="/portal">${hidden({ change: 'add-domain', csrf })}
      <label for="domain">${t('domain')}</label>
      <input id="domain" name="domain" value="${typed}" dir="ltr" autocomplete="off" autocapitalize="none" spellcheck="false"
        inputmode="url" maxlength="253" required${faulty}>
      <p class="hint">${t('domainHint')}</p>
      <button type="submit" class="second">${t('add')}</button></form></section>`;
}

function domainRow(
  { t }: Reader,
  csrf: string,
  { id, challenge, domain, fault, provedBy, state }: OrganizationDomain,
): Html {
  const unicode = unicodeOf(domain);
  const title = html`<h3 id="d-${id}">${unicode === null ? domain : `${unicode} (${domain})`} <span class="badge${state === 'verified' ? '' : ' open'}">${t(state)}</span></h3>`;
  const trouble = fault == null ? nothing : html`<p class="problem">${t(fault)}</p>`;
  if (state === 'verified') {
    return html`${title}${trouble}${provedBy === 'dns' ? html`<p class="hint">${t('keep')}</p>` : nothing}`;
  }
  const act = (change: string, label: string) =>
    post(label, { change, id, csrf }, 'quiet', t('about', { act: label, name: domain }));
  return html`${title}${trouble}<p class="hint">${t('record')}</p>
    ${readonlyField(`name-${id}`, t('recordName'), challengeName(domain))}${readonlyField(`value-${id}`, t('recordValue'), challenge)}
    <div class="acts">${act('check-domain', t('check'))}${act('remove-domain', t('remove'))}</div>`;
}
