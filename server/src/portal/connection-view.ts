import { type Connection, connectionKinds, settingsOf } from '../domain/connections/connection.entity.ts';
import type { ConnectionCallback } from '../domain/connections/connections.ts';
import { guideOf } from '../domain/connections/guides.ts';
import type { OpenLink } from '../domain/portal/open-links.ts';
import { type PortalProvider, type PortalProviderName, providers } from '../domain/portal/portal-providers.ts';
import { type Html, html, nothing } from '../http/markup.ts';
import { field, form, post, type Reader, readonlyField } from './parts.ts';

/** The connection of the portal, with the addresses to register. */
export interface ConnectionState {
  connection: Connection;
  callback: ConnectionCallback;
}

const protocols = { oidc: 'OpenID Connect', saml: 'SAML 2.0' } as const;

/** The section that connects an identity provider. @param typed values of a form that was refused */
export function connectionSection(
  reader: Reader,
  link: OpenLink,
  {
    csrf,
    state,
    typed,
    testUrl,
  }: {
    csrf: string;
    state: ConnectionState | null;
    typed: Record<string, string>;
    testUrl: string | undefined;
  },
): Html {
  const { t } = reader;
  const test =
    testUrl === undefined
      ? nothing
      : html`<p class="done" role="status">${t('testReady')} <a href="${testUrl}" target="_blank" rel="noopener">${t('openTest')}</a></p>`;
  return html`<section aria-labelledby="connection"><h2 id="connection">${t('connection')}</h2>
    <p class="hint">${t('connectionText')}</p>${test}
    ${state ? present(reader, link, csrf, state, typed) : choice(reader, csrf)}</section>`;
}

function choice({ t }: Reader, csrf: string): Html {
  const options = Object.entries(providers).map(
    ([id, { name }]) => html`<option value="${id}">${id === 'generic' ? t('otherProvider') : name}</option>`,
  );
  const kinds = connectionKinds.map((kind) => html`<option value="${kind}">${protocols[kind]}</option>`);
  return form(
    { change: 'create-connection', csrf },
    html`<label for="provider">${t('provider')}</label><select id="provider" name="provider">${options}</select>
      <label for="kind">${t('kind')}</label><select id="kind" name="kind">${kinds}</select>
      <button type="submit" class="second">${t('choose')}</button>`,
  );
}

function present(
  reader: Reader,
  link: OpenLink,
  csrf: string,
  state: ConnectionState,
  typed: Record<string, string>,
): Html {
  const { t } = reader;
  const { kind, name, preset, state: now } = state.connection;
  const badges = {
    draft: 'stateDraft',
    tested: 'stateTested',
    enabled: 'stateEnabled',
    disabled: 'stateDisabled',
  } as const;
  const title = html`<h3>${name} <span class="badge${now === 'enabled' ? '' : ' open'}">${t(badges[now])}</span></h3>`;
  if (now === 'disabled') return html`${title}<p class="hint">${t('disabledText', { app: link.app })}</p>`;
  if (now === 'enabled') return html`${title}${health(reader, link, state.connection)}`;
  const provider: PortalProvider = providers[preset as PortalProviderName];
  const path = guideOf(state.connection).place.join(' → ');
  const where = preset === 'generic' ? t('whereOther') : t('where', { provider: provider.name, path });
  const enable = now === 'tested' ? post(t('enable'), { change: 'enable-connection', csrf }, 'main') : nothing;
  return html`${title}
    <p>${where}</p>
    <p>${t('register')}</p>${addresses(reader, state.callback)}
    <p>${t('copy')}</p>
    ${form(
      { change: 'save-connection', csrf },
      html`${kind === 'oidc' ? oidcFields(reader, state.connection, provider, typed) : samlFields(reader, state.connection, typed)}
      <button type="submit" class="second">${t('save')}</button>`,
    )}
    <p class="hint">${t('testText')}</p>
    <div class="acts">${post(t('test'), { change: 'test-connection', csrf }, 'quiet')}${enable}${post(t('another'), { change: 'remove-connection', csrf }, 'quiet')}</div>`;
}

function health({ at, t }: Reader, { app }: OpenLink, { lastFailureAt, lastSuccessAt, name }: Connection): Html {
  const line = (key: 'lastSuccess' | 'lastFailure', time: Date | null | undefined) =>
    time == null ? nothing : html`<p class="hint">${t(key, { at: at(time) })}</p>`;
  return html`<p class="hint">${t('enabledText', { provider: name, app })}</p>
    ${line('lastSuccess', lastSuccessAt)}${line('lastFailure', lastFailureAt)}`;
}

function addresses({ t }: Reader, callback: ConnectionCallback): Html {
  const shown = (['redirectUri', 'acsUrl', 'entityId', 'metadataUrl'] as const).flatMap((name) => {
    const value = callback[name];
    return value === null ? [] : [readonlyField(`of-${name}`, t(name), value)];
  });
  return html`${shown}`;
}

function oidcFields(
  { t }: Reader,
  connection: Connection,
  { issuer }: PortalProvider,
  typed: Record<string, string>,
): Html {
  const settings = settingsOf(connection, 'oidc');
  const isGoogle = connection.preset === 'google';
  return html`${
    issuer === null
      ? nothing
      : html`${field('issuer', t('issuer'), typed['issuer'] ?? settings.issuer, 'required maxlength="500"')}
        <p class="hint">${t('issuerHint', { example: issuer })}</p>`
  }
    ${field('clientId', t('clientId'), typed['clientId'] ?? settings.clientId, 'required maxlength="255"')}
    ${field('clientSecret', t('clientSecret'), '', 'type="password" maxlength="1000"')}
    ${connection.sealedSecret == null ? nothing : html`<p class="hint">${t('secretStored')}</p>`}
    ${isGoogle ? field('hostedDomain', t('hostedDomain'), typed['hostedDomain'] ?? settings.hostedDomain ?? '', 'required maxlength="253"') : nothing}`;
}

function samlFields({ t }: Reader, connection: Connection, typed: Record<string, string>): Html {
  const { entityId, metadataUrl } = settingsOf(connection, 'saml');
  return html`${entityId === '' ? nothing : html`<p class="hint">${t('metadataStored', { entity: entityId })}</p>`}
    ${field('metadataUrl', t('idpMetadataUrl'), typed['metadataUrl'] ?? metadataUrl ?? '', 'type="url" maxlength="2000"')}
    <label for="metadataXml">${t('idpMetadataXml')}</label>
    <textarea id="metadataXml" name="metadataXml" rows="4" dir="ltr" spellcheck="false" maxlength="50000"></textarea>`;
}
