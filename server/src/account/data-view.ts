import type { OwnDeletion } from '../domain/accounts/deletions/account-deletions.ts';
import { type Html, html, nothing } from '../http/markup.ts';
import type { ProfileParts } from './profile-view.ts';

type Parts = Pick<ProfileParts, 't' | 'form' | 'button' | 'confirmation' | 'fold'> & {
  /** A text with `{time}`. */
  at(key: string, at: Date): Html;
};

/** The file with the user's own data. */
export function dataSection({ t, form, button, confirmation }: Parts, isFresh: boolean): Html {
  // The page's script lets a form with this attribute be submitted again.
  const download = form('download-data', button(t('dataDownload')), html` data-stays`);
  const stale = html`<p class="hint">${t('dataStale')}</p>${confirmation('data')}`;
  return html`<section aria-labelledby="data"><h2 id="data">${t('data')}</h2>
    <p class="hint">${t('dataText')}</p>
    ${isFresh ? download : stale}</section>`;
}

/** At the top of the page: when the account will be deleted. */
export function pendingDeletionSection({ at, button, form, t }: Parts, dueAt: Date | null): Html {
  if (!dueAt) return nothing;
  return html`<section aria-labelledby="deletion"><h2 id="deletion">${t('deletionPending')}</h2>
    <p class="notice">${at('deletionPendingText', dueAt)}</p>
    ${form('cancel-deletion', button(t('deletionCancel')))}</section>`;
}

/** Deletion of the account. Nothing if the project does not offer it, or if it is pending. */
export function deletionSection(
  { at, button, confirmation, fold, form, t }: Parts,
  { blocker, dueAt, wouldBeDueAt }: OwnDeletion,
  isFresh: boolean,
): Html {
  if (blocker === 'off' || dueAt) return nothing;
  const submit = html`<p class="hint">${wouldBeDueAt ? at('deletionText', wouldBeDueAt) : t('deletionNow')}</p>
    <p class="hint">${t('deletionApplications')}</p>${form('delete-account', button(t('deletionSubmit')))}`;
  const stale = html`<p class="hint">${t('deletionStale')}</p>${confirmation('deletion')}`;
  const act = isFresh ? html`<div class="acts">${fold(t('deletion'), t('deletion'), submit)}</div>` : stale;
  return html`<section aria-labelledby="deletion"><h2 id="deletion">${t('deletion')}</h2>
    ${blocker ? html`<p class="hint">${t(blocker === 'directory' ? 'deletionDirectory' : 'deletionOwner')}</p>` : act}</section>`;
}
