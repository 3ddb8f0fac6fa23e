import { cancelPath } from '../domain/accounts/recoveries.ts';
import { hidden, html } from '../http/markup.ts';
import type { View } from './view.ts';

/** Asks whether to cancel the recovery that a notice announced. */
export function cancelView(link: { project: string; cancel: string }): View {
  return (say) => html`<h1>${say('recoveryTitle')}</h1><p class="lead">${say('recoveryCancelText')}</p>
    <form method="post" action="${cancelPath}">${hidden(link)}
      <button type="submit" class="main">${say('recoveryCancel')}</button></form>`;
}

export function cancelledView(): View {
  return (say) => html`<h1>${say('recoveryCancelled')}</h1><p class="lead">${say('recoveryCancelledText')}</p>`;
}

export function notCancelledView(): View {
  return (say) => html`<h1>${say('recoveryGone')}</h1><p class="lead">${say('recoveryGoneText')}</p>`;
}
