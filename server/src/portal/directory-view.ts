import type { OpenLink } from '../domain/portal/open-links.ts';
import type { PortalDirectoryState } from '../domain/portal/portal-directory.ts';
import { type Html, html, nothing } from '../http/markup.ts';
import { directoryGuides } from './generated/directory-steps.ts';
import { form, type Reader, readonlyField } from './parts.ts';

/** The section that connects a directory. @param issued a token that was issued by this request */
export function directorySection(
  reader: Reader,
  link: OpenLink,
  { csrf, state, issued }: { csrf: string; state: PortalDirectoryState; issued: string | undefined },
): Html {
  const { t } = reader;
  const badge = state.isConnected ? t('stateConnected') : t('stateWaiting');
  return html`<section aria-labelledby="directory"><h2 id="directory">${t('directory')}</h2>
    <p class="hint">${t('directoryText')} ${t('directoryDomains')}</p>
    ${
      link.hasDirectories
        ? html`<h3>SCIM 2.0 <span class="badge${state.isConnected ? '' : ' open'}">${badge}</span></h3>
          ${readonlyField('scim-address', t('scimAddress'), state.address)}
          ${token(reader, csrf, state, issued)}${guides(reader, state)}${requests(reader, state, issued)}`
        : html`<p class="hint">${t('directoryOff', { app: link.app })}</p>`
    }</section>`;
}

function token(
  { at, t }: Reader,
  csrf: string,
  { token: former }: PortalDirectoryState,
  issued: string | undefined,
): Html {
  // A form is good for the token that its page shows (`PortalDirectory.issue`).
  const act = (label: string, look: string) =>
    form(
      { change: 'issue-token', seen: former?.id ?? '', csrf },
      html`<button type="submit" class="${look}">${label}</button>`,
      'directory',
    );
  if (issued !== undefined) {
    return html`${readonlyField('scim-token', t('token'), issued)}<p class="notice" role="status">${t('tokenOnce')}</p>`;
  }
  if (!former) return html`<p class="hint">${t('tokenText')}</p>${act(t('issueToken'), 'second')}`;
  const text = former.isLive ? t('tokenMade', { at: at(former.createdAt) }) : t('tokenEnded');
  return html`<p>${text}</p><p class="hint">${t('replaceText')}</p>${act(t('replaceToken'), 'quiet')}`;
}

function guides({ language, t }: Reader, { address }: PortalDirectoryState): Html {
  const shown = directoryGuides[language].map(({ name, note, steps }) => {
    const items = steps.map(({ text, settings }) => {
      const rows = settings.map(
        ([label = '', value = '']) =>
          html`<dt>${label}</dt><dd dir="auto">${value === '{address}' ? address : value}</dd>`,
      );
      return html`<li>${text}${rows.length === 0 ? nothing : html`<dl>${rows}</dl>`}</li>`;
    });
    const end = note === undefined ? nothing : html`<p class="hint">${note}</p>`;
    return html`<details><summary>${name}</summary><ol>${items}</ol>${end}</details>`;
  });
  return html`<h3>${t('steps')}</h3>${shown}`;
}

/** Not beside a token that was just issued: it is gone when the page is loaded again. */
function requests(
  { at, t }: Reader,
  { token: of, requests: last }: PortalDirectoryState,
  issued: string | undefined,
): Html {
  if (!of || issued !== undefined) return nothing;
  const used = of.lastUsedAt === null ? t('noRequests') : t('lastRequest', { at: at(of.lastUsedAt) });
  const rows = last.map(
    ({ method, resource, scimType, status }) =>
      html`<li><code>${method} ${resource ?? '/'}</code> <span${status < 400 ? nothing : html` class="refused"`}>${String(status)} ${scimType ?? ''}</span></li>`,
  );
  return html`<h3>${t('requests')}</h3><p class="hint">${used} <a href="/portal">${t('refresh')}</a></p>
    ${rows.length === 0 ? nothing : html`<ul class="requests" dir="ltr">${rows}</ul>`}`;
}
