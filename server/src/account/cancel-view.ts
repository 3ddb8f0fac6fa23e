import { hidden, html } from '../http/markup.ts';
import type { View } from './view.ts';

/** Keys of the texts of the pages that cancel something by the link of a mail. */
export interface CancelTexts {
  title: string;
  text: string;
  submit: string;
  done: string;
  doneText: string;
  goneText: string;
}

export const recoveryTexts: CancelTexts = {
  title: 'recoveryTitle',
  text: 'recoveryCancelText',
  submit: 'recoveryCancel',
  done: 'recoveryCancelled',
  doneText: 'recoveryCancelledText',
  goneText: 'recoveryGoneText',
};

export const deletionTexts: CancelTexts = {
  title: 'deletionPending',
  text: 'deletionCancelText',
  submit: 'deletionCancel',
  done: 'deletionCancelled',
  doneText: 'deletionCancelledText',
  goneText: 'deletionGoneText',
};

/** Asks whether to cancel what a mail announced. */
export function cancelView(path: string, link: { project: string; cancel: string }, texts: CancelTexts): View {
  return (t) => html`<h1>${t(texts.title)}</h1><p class="lead">${t(texts.text)}</p>
    <form method="post" action="${path}">${hidden(link)}
      <button type="submit" class="main">${t(texts.submit)}</button></form>`;
}

export function cancelledView({ done, doneText }: CancelTexts): View {
  return (t) => html`<h1>${t(done)}</h1><p class="lead">${t(doneText)}</p>`;
}

export function notCancelledView({ goneText }: CancelTexts): View {
  return (t) => html`<h1>${t('recoveryGone')}</h1><p class="lead">${t(goneText)}</p>`;
}

/** The page after the account has been deleted without a waiting time. */
export function deletedView(): View {
  return (t) => html`<h1>${t('deletionDone')}</h1><p class="lead">${t('deletionDoneText')}</p>`;
}
