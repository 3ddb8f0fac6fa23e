import { cancelPath } from '../domain/accounts/recoveries.ts';
import { hidden, html } from '../http/markup.ts';
import type { View } from './view.ts';

/** Asks whether to cancel the recovery that a notice announced. */
export function cancelView(link: { project: string; cancel: string }): View {
  return (t) => html`<h1>${t('recoveryTitle')}</h1><p class="lead">${t('recoveryCancelText')}</p>
    <form method="post" action="${cancelPath}">${hidden(link)}
      <button type="submit" class="main">${t('recoveryCancel')}</button></form>`;
}

export function cancelledView(): View {
  return (t) => html`<h1>${t('recoveryCancelled')}</h1><p class="lead">${t('recoveryCancelledText')}</p>`;
}

export function notCancelledView(): View {
  return (t) => html`<h1>${t('recoveryGone')}</h1><p class="lead">${t('recoveryGoneText')}</p>`;
}
