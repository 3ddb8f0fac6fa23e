import type { Visitor } from '../domain/accounts/own/own-change.ts';
import type { OwnKeys } from '../domain/accounts/own/own-keys.ts';
import type { UserKey } from '../domain/tokens/keys/user-key.entity.ts';
import type { KeyedApi } from '../domain/tokens/keys/user-keys.ts';
import { type Html, html, nothing } from '../http/markup.ts';
import type { Translate } from './profile-view.ts';

/** The parts of the account page that the section uses. */
interface Parts {
  t: Translate;
  language: string;
  form(change: string, fields: Record<string, string>, content: Html): Html;
  button(label: string, accessibleName?: string): Html;
  fold(label: string, accessibleName: string, content: Html): Html;
  stale(section: string): Html;
  at(key: string, at: Date): Html;
}

const lifetimes = [30, 90, 365];

/** The user's API keys, and the form for a new one at each API that allows them; empty without both. */
export function keysSection(page: Parts, { apis, keys, organizations }: OwnKeys, isFresh: boolean): Html {
  if (apis.length === 0 && keys.length === 0) return nothing;
  const { t } = page;
  const forms = isFresh ? apis.map((api) => newKey(page, api, organizations)) : [page.stale('api-keys')];
  return html`<section aria-labelledby="api-keys"><h2 id="api-keys">${t('apiKeys')}</h2>
    <p class="hint">${t('apiKeysText')}</p>
    ${keys.length > 0 ? html`<ul class="rows">${keys.map((key) => row(page, key, organizations))}</ul>` : nothing}
    ${apis.length > 0 ? html`<div class="acts">${forms}</div>` : nothing}</section>`;
}

function row(page: Parts, key: UserKey, organizations: OwnKeys['organizations']): Html {
  const { t } = page;
  const { id, hint, lastUsedAt, name, scopes } = key;
  const organization = organizations.find((one) => one.id === key.organizationId)?.name;
  const facts: (string | Html)[] = [
    key.api.getEntity().name,
    ...(organization === undefined ? [] : [organization]),
    html`<code dir="ltr">lk_user_…${hint}</code>`,
    scopes.join(' '),
    ...(key.networks.length > 0 ? [key.networks.join(' ')] : []),
    page.at('apiKeyExpires', key.expiresAt),
    lastUsedAt ? page.at('lastUsed', lastUsedAt) : t('neverUsed'),
  ];
  const about = t('about', { act: t('remove'), name });
  const removal = html`<p class="hint">${t('apiKeyRemoveText')}</p>
    ${page.form('revoke-api-key', { id }, page.button(t('remove'), about))}`;
  return html`<li class="row"><h3>${name}</h3>
    <p class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</p>
    <div class="acts">${page.fold(t('remove'), about, removal)}</div></li>`;
}

function newKey(page: Parts, api: KeyedApi, organizations: OwnKeys['organizations']): Html {
  const { t } = page;
  const field = (name: string) => `key-${name}-${api.id}`;
  const days = new Intl.NumberFormat(page.language, { style: 'unit', unit: 'day', unitDisplay: 'long' });
  const chosen = html`<label for="${field('organization')}">${t('apiKeyOrganization')}</label>
    <select id="${field('organization')}" name="organization"><option value="">–</option>${organizations.map(
      ({ id, name }) => html`<option value="${id}">${name}</option>`,
    )}</select>`;
  const content = html`<label for="${field('name')}">${t('name')}</label>
    <input id="${field('name')}" name="name" maxlength="100" autocomplete="off" required>
    <fieldset><legend class="label">${t('apiKeyScopes')}</legend>${api.scopes.map(
      (
        { key, description },
        index,
      ) => html`<label class="check"><input type="checkbox" name="scope.${String(index)}" value="${key}">
        <span>${description} <code dir="ltr">${key}</code></span></label>`,
    )}</fieldset>
    <label for="${field('days')}">${t('apiKeyLifetime')}</label>
    <select id="${field('days')}" name="days">${lifetimes.map(
      (one) => html`<option value="${String(one)}">${days.format(one)}</option>`,
    )}</select>
    ${organizations.length > 0 ? chosen : nothing}
    <label for="${field('networks')}">${t('apiKeyNetworks')}</label>
    <input id="${field('networks')}" name="networks" dir="ltr" maxlength="1000" autocomplete="off" aria-describedby="${field('hint')}">
    <p class="hint" id="${field('hint')}">${t('apiKeyNetworksHint')}</p>
    ${page.button(t('apiKeyCreate'))}`;
  const label = t('apiKeyNew', { api: api.name });
  return page.fold(label, label, page.form('add-api-key', { api: api.id }, content));
}

/** The page with a new key, shown once. */
export function newKeyView({ project }: Visitor, token: string): (t: Translate) => Html {
  return (t) => html`<h1>${t('apiKeyShown')}</h1><p class="lead">${t('apiKeyShownText')}</p>
    <ol class="codes"><li dir="ltr">${token}</li></ol>
    <a class="main" href="/account?project=${project.id}#api-keys">${t('apiKeySaved')}</a>`;
}
