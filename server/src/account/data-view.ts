import { type Html, html } from '../http/markup.ts';
import type { ProfileParts } from './profile-view.ts';

type Parts = Pick<ProfileParts, 't' | 'form' | 'button' | 'confirmation'>;

/** The file with the user's own data. */
export function dataSection({ t, form, button, confirmation }: Parts, isFresh: boolean): Html {
  // The page's script lets a form with this attribute be submitted again.
  const download = form('download-data', button(t('dataDownload')), html` data-stays`);
  const stale = html`<p class="hint">${t('dataStale')}</p>${confirmation('data')}`;
  return html`<section aria-labelledby="data"><h2 id="data">${t('data')}</h2>
    <p class="hint">${t('dataText')}</p>
    ${isFresh ? download : stale}</section>`;
}
