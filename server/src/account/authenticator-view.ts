import type { AuthenticatorState } from '../domain/accounts/own/own-authenticator.ts';
import { type Html, html, nothing } from '../http/markup.ts';

/** The page's texts and forms. */
interface PageParts {
  t(key: string, values?: Record<string, string>): string;
  form(change: string, content: Html): Html;
  button(label: string, accessibleName?: string): Html;
  confirmation(section: string): Html;
}

/** The button that begins the sign-in for an authenticator app. */
export function beginApp({ button, form, t }: PageParts, app: AuthenticatorState): Html {
  if (app.can !== 'begin') return nothing;
  const submit = form('add-authenticator', button(t(app.replaces ? 'appReplace' : 'appAdd')));
  return app.replaces ? html`<p class="hint">${t('appReplaceText')}</p>${submit}` : submit;
}

/** The QR code, drawn by the page's script, the key as text, and the first code of the app. */
export function setUpApp({ button, confirmation, form, t }: PageParts, app: AuthenticatorState): Html {
  if (app.can !== 'verify' && app.can !== 'confirm') return nothing;
  const cancel = form('drop-authenticator', button(t('appCancel')));
  const title = html`<h2 id="app">${t('code.titleEnrol')}</h2>`;
  if (app.can === 'confirm') {
    return html`<section aria-labelledby="app">${title}<p class="notice">${t('appStale')}</p>
      <div class="acts">${confirmation('')}${cancel}</div></section>`;
  }
  const { otpauthUri, secret } = app.setup;
  const first = form(
    'verify-authenticator',
    html`<label for="app-code">${t('code.label')}</label>
      <input id="app-code" class="otp" name="code" dir="ltr" inputmode="numeric" autocomplete="one-time-code" maxlength="16" required autofocus>
      <button type="submit" class="main">${t('appConfirm')}</button>`,
  );
  return html`<section aria-labelledby="app">${title}<p class="hint">${t('code.textEnrol')}</p>
    <div class="ask">
      <div class="picture" data-qr="${otpauthUri}" role="img" aria-label="${t('totp.picture')}" hidden></div>
      <p class="manual">${t('totp.manual')}</p>
      <p class="copy"><code>${(secret.match(/.{1,4}/g) ?? []).join(' ')}</code></p>
      <p class="touch"><a href="${otpauthUri}">${t('totp.open')}</a></p>
      ${first}${cancel}</div></section>`;
}
