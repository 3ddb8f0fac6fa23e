import type { OpenInvitation } from '../domain/organizations/invitations/open-invitations.ts';
import { type Html, html } from '../http/markup.ts';
import type { Translate } from './profile-view.ts';

/** The sections of the account page with the invitations of its user. @param form a form that accepts the invitation with this id */
export function invitationSections(
  t: Translate,
  invitations: readonly OpenInvitation[],
  form: (id: string, label: string) => Html,
): Html {
  return html`${invitations.map(
    ({ id, organization }) => html`<section aria-labelledby="invitation-${id}">
      <h2 id="invitation-${id}">${t('invitationTitle', { organization })}</h2>
      ${form(id, t('invitationJoin', { organization }))}</section>`,
  )}`;
}
