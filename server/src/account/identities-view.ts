import type { AccountOverview } from '../domain/accounts/own/own-account.ts';
import { type Html, html, nothing } from '../http/markup.ts';
import type { ProfileParts } from './profile-view.ts';

type Parts = Pick<ProfileParts, 't' | 'button' | 'confirmation' | 'fold'> & {
  /** A text with `{time}`. */
  at(key: string, at: Date): Html;
  /** A form that changes one identity. */
  entry(id: string, content: Html): Html;
};

/** Accounts at upstream providers that sign the user in. */
export function identitiesSection(
  { at, button, confirmation, entry, fold, t }: Parts,
  { identities, isFresh }: Pick<AccountOverview, 'identities' | 'isFresh'>,
): Html {
  if (identities.length === 0) return nothing;
  const rows = identities.map(({ connection, createdAt, id, label, lastUsedAt }) => {
    const { name } = connection.getEntity();
    const about = (act: string) => t('about', { act, name: label ?? name });
    const facts = [
      ...(label == null ? [] : [label]),
      ...(lastUsedAt ? [at('lastUsed', lastUsedAt)] : []),
      at('added', createdAt),
    ];
    const removal = html`<p class="hint">${t('unlinkText')}</p>${entry(id, button(t('unlink'), about(t('unlink'))))}`;
    return html`<li class="row"><h3>${name}</h3>
      <p class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</p>
      ${isFresh ? html`<div class="acts">${fold(t('remove'), about(t('remove')), removal)}</div>` : nothing}</li>`;
  });
  return html`<section aria-labelledby="identities"><h2 id="identities">${t('identities')}</h2>
    <p class="hint">${t('identitiesText')}</p>
    ${isFresh ? nothing : html`<p class="hint">${t('staleHint')}</p>${confirmation('identities')}`}
    <ul class="rows">${rows}</ul></section>`;
}
