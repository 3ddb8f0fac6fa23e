import type { OwnContacts } from '../domain/accounts/own/own-contacts.ts';
import { type Html, html, nothing } from '../http/markup.ts';
import type { ProfileParts } from './profile-view.ts';

/** The code for a new address or number; in test mode only. */
export interface TestCode {
  to: 'email' | 'phone';
  code: string;
}

/** The sections of the login address and phone: the stored value, and the forms of a change. */
export function contactsSections(
  parts: ProfileParts,
  { email, phone }: OwnContacts,
  isFresh: boolean,
  testCode: TestCode | undefined,
): Html {
  const { t } = parts;
  const code = (to: TestCode['to']) => (testCode?.to === to ? testCode.code : undefined);
  const emailText = email.address === null ? t('emailNone') : t('emailText', { address: email.address });
  const emailForms =
    email.pending === null ? newEmail(parts, email) : pendingForms(parts, 'email', email.pending, code('email'));
  const phoneText = phone.number === null ? t('phoneNone') : t('phoneText', { number: phone.number });
  const phoneForms =
    phone.pending === null ? newPhone(parts, phone) : pendingForms(parts, 'phone', phone.pending, code('phone'));
  const isPhoneShown = phone.number !== null || phone.isChangeable;
  return html`<section aria-labelledby="email"><h2 id="email">${t('emailAddress')}</h2>
      <p class="hint">${emailText}${email.isProvisioned ? html` ${t('emailProvisioned')}` : nothing}</p>
      ${isFresh ? emailForms : parts.stale('email')}</section>
    ${
      isPhoneShown
        ? html`<section aria-labelledby="phone"><h2 id="phone">${t('phone')}</h2>
      <p class="hint">${phoneText}${phone.isLocked ? html` ${t('phoneLocked')}` : nothing}</p>
      ${phone.isChangeable ? (isFresh ? phoneForms : parts.stale('phone')) : nothing}</section>`
        : nothing
    }`;
}

function newEmail({ t, form, button, fold }: ProfileParts, { address }: OwnContacts['email']): Html {
  const asking = form(
    'change-email',
    html`<label for="email-new">${t('emailNew')}</label>
      <input id="email-new" name="email" type="email" dir="ltr" autocomplete="email" maxlength="254" required>
      <p class="hint">${t('emailHint')}</p>${button(t('phoneSend'), t('phoneSend'))}`,
  );
  const act = t(address === null ? 'emailAdd' : 'emailChange');
  return html`<div class="acts">${fold(act, act, asking)}</div>`;
}

function newPhone({ t, form, button, fold }: ProfileParts, { number }: OwnContacts['phone']): Html {
  const asking = form(
    'change-phone',
    html`<label for="phone-new">${t('phoneNew')}</label>
      <input id="phone-new" name="phone" type="tel" dir="ltr" autocomplete="tel" maxlength="40" required>
      <p class="hint">${t('phoneHint')}</p>${button(t('phoneSend'), t('phoneSend'))}`,
  );
  const act = t(number === null ? 'phoneAdd' : 'phoneChange');
  return html`<div class="acts">${fold(act, act, asking)}</div>`;
}

/** The forms that verify, or cancel, a change to `value`. */
function pendingForms(
  { t, form, button }: ProfileParts,
  to: TestCode['to'],
  value: string,
  testCode: string | undefined,
): Html {
  const [confirm, other] = to === 'email' ? [t('emailConfirm'), t('emailOther')] : [t('phoneConfirm'), t('phoneOther')];
  const confirming = form(
    `verify-${to}`,
    html`<label for="${to}-code">${t('phoneCode')}</label>
      <input id="${to}-code" name="code" dir="ltr" inputmode="numeric" autocomplete="one-time-code" maxlength="16" required>
      ${button(confirm, confirm)}`,
  );
  return html`<div class="ask"><p>${t('phoneSent', { number: value })}</p>
    ${testCode === undefined ? nothing : html`<p class="notice">${t('phoneTest', { code: testCode })}</p>`}
    ${confirming}${form(`drop-${to}`, button(other, other))}</div>`;
}
